# Vagrant, as far as a Vagrantfile sees it: keeps what is set, and runs triggers for a machine.
#
#   ruby vagrant.rb VAGRANTFILE [MACHINE]     # MACHINE as JSON: when ("before up"), provider, id, folder
#
# Prints as JSON what the Vagrantfile found and set; with its own words and code 1 what it refused.

require "json"
require "pathname"

module Vagrant
  module Errors
    class VagrantError < StandardError; end
  end

  def self.has_plugin?(_name)
    false
  end

  def self.configure(_version)
    yield Settings.new("config", [])
  end
end

KEPT = {}
TRIGGERS = []

class Settings
  def initialize(path, given)
    @path = path
    @given = given
  end

  def respond_to_missing?(*)
    true
  end

  def method_missing(name, *given, **named, &block)
    return KEPT["#{@path}.#{name.to_s.delete_suffix("=")}"] = given[0] if name.end_with?("=")
    return TRIGGERS << [@path.split(".").last, @given, block] if name == :ruby
    (KEPT["#{@path}.#{name}"] ||= []) << [*given, named] unless given.empty?
    inner = Settings.new([@path, name, *(given[0] if name == :provider)].join("."), given)
    block&.call(*[inner, Settings.new(given[0].to_s, [])].first(block.arity))
    inner
  end
end

Machine = Struct.new(:provider_name, :id, :data_dir, :provider_config, :name)
Customized = Struct.new(:customizations)

begin
  load ARGV[0]
  if ARGV[1]
    asked = JSON.parse(ARGV[1])
    calls = KEPT["config.vm.provider.virtualbox.customize"].map { |call, _| ["pre-boot", call] }
    machine = Machine.new(asked["provider"].to_sym, asked["id"], Pathname.new(asked["folder"]), Customized.new(calls), "pair")
    TRIGGERS.each { |at, actions, block| block.call(nil, machine) if actions.any? { |action| "#{at} #{action}" == asked["when"] } }
  end
rescue Vagrant::Errors::VagrantError => refused
  warn refused.message
  exit 1
end
puts JSON.generate("python" => PYTHON, "files" => FILES, "layout" => LAYOUT, "state" => STATE, "kept" => KEPT)
