# What vagrant-libvirt has no setting for, written into the domain right before it starts: a virtio-scsi controller for
# each of the layout's (its own are made for the box's disks only; libvirt would add LSI controllers of seven disks),
# each disk's place on it, its sectors, model and speed of rotation.

require "rexml/document"

class LibvirtDisks
  def initialize(app, _env)
    @app = app
  end

  def call(env)
    client = env[:machine].provider.driver.connection.client
    domain = client.lookup_domain_by_uuid(env[:machine].id)
    before = domain.xml_desc(1)
    client.define_domain_xml(described(REXML::Document.new(before)))
    @app.call(env)
  end

  private

  def described(xml)
    devices = xml.elements["domain/devices"]
    there = devices.get_elements("disk/target[@bus='scsi']").map { |target| target.attributes["dev"] }
    failure(OTHER_DISKS) unless there.sort == DISKS.each_index.map { |index| scsi_name(index) }.sort
    devices.elements.delete_all("controller[@type='scsi']")
    controllers = DISKS.map { |disk| disk["controller"] }.uniq
    controllers.each_index do |index|
      devices.add_element("controller", "type" => "scsi", "model" => "virtio-scsi", "index" => index.to_s)
    end
    taken = Hash.new(0)
    DISKS.each_with_index do |disk, index|
      number = controllers.index(disk["controller"])
      place(devices.elements["disk[target/@dev='#{scsi_name(index)}']"], disk, number, taken[number])
      taken[number] += 1
    end
    xml.to_s
  end

  def place(element, disk, controller, target)
    %w[address blockio product].each { |name| element.elements.delete_all(name) }
    element.add_element("address", "type" => "drive", "controller" => controller.to_s, "bus" => "0",
                                   "target" => target.to_s, "unit" => "0")
    element.add_element("blockio", "logical_block_size" => disk["logical_block"].to_s,
                                   "physical_block_size" => disk["physical_block"].to_s)
    element.add_element("product").text = disk["model"] unless disk["model"].empty?
    element.elements["target"].attributes["rotation_rate"] = disk["rotational"] ? "7200" : "1"
  end
end

class LibvirtDisksPlugin < Vagrant.plugin("2")
  name "raidplan: disks of a libvirt machine"
  action_hook(:raidplan_disks) do |hook|
    require "vagrant-libvirt/action"
    hook.before(VagrantPlugins::ProviderLibvirt::Action::StartDomain, LibvirtDisks)
  end
end
