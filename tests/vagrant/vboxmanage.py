"""A stand-in for VBoxManage that knows the manual's grammar and limits of the calls that give a machine disks.

    vboxmanage.py STATE CALL…       # STATE: a file of JSON with the machine, which begins as a box does

Grammar: the manual's chapter 8 (`modifyvm`, `storagectl`, `createmedium`, `storageattach`, `setextradata`, `showvminfo`).
Limits: 30 ports of a SATA controller, one SATA controller with the chipset PIIX3 and eight with ICH9 (`getMaxPortCountForStorageBus`,
`getMaxInstancesOfStorageBus`), 20 and 40 characters of a serial number and a model (ATA8-ACS, IDENTIFY DEVICE).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

BOX: dict[str, Any] = {
    "chipset": "piix3",
    "controllers": {"SATA Controller": {"ports": 1, "attached": {"0": "box.vmdk"}}},
    "media": {},
    "extra": {},
}
OPTIONS = {
    "modifyvm": {"--chipset": r"piix3|ich9"},
    "storagectl": {
        "--name": r".+",
        "--add": r"sata",
        "--controller": r"IntelAhci",
        "--portcount": r"\d+",
        "--bootable": r"on|off",
    },
    "createmedium": {
        "--filename": r"/.+",
        "--format": r"VDI|VMDK|VHD",
        "--variant": r"Standard|Fixed",
        "--sizebyte": r"\d+",
    },
    "storageattach": {
        "--storagectl": r".+",
        "--port": r"\d+",
        "--device": r"\d+",
        "--type": r"hdd",
        "--medium": r".+",
        "--nonrotational": r"on|off",
    },
}
EXTRA = re.compile(r"VBoxInternal/Devices/ahci/(\d+)/Config/Port(\d+)/(SerialNumber|ModelNumber)")
LENGTHS = {"SerialNumber": 20, "ModelNumber": 40}


def refuse(words: str) -> None:
    """Ends as VBoxManage does: its name, the error, code 1."""
    sys.exit(f"VBoxManage: error: {words}")


def options(call: str, words: list[str]) -> dict[str, str]:
    """The options of a call, each with a value of its grammar."""
    given = dict(zip(words[::2], words[1::2], strict=True))
    for name, value in given.items():
        if not re.fullmatch(OPTIONS[call].get(name, r"(?!)"), value):
            refuse(f"{call}: {name} {value}")
    return given


def storagectl(machine: dict[str, Any], given: dict[str, str]) -> None:
    """Adds a controller."""
    if given["--name"] in machine["controllers"]:
        refuse(f"Storage controller named '{given['--name']}' already exists")
    if len(machine["controllers"]) >= {"piix3": 1, "ich9": 8}[machine["chipset"]]:
        refuse("Too many storage controllers of this type")
    if not 1 <= int(given["--portcount"]) <= 30:
        refuse(f"Invalid port count: {given['--portcount']} (must be in range [1, 30])")
    machine["controllers"][given["--name"]] = {"ports": int(given["--portcount"]), "attached": {}}


def createmedium(machine: dict[str, Any], given: dict[str, str]) -> None:
    """Makes a file."""
    file = Path(given["--filename"])
    if file.exists():
        refuse(f"Cannot create medium '{file}': it exists")
    if int(given["--sizebyte"]) % 512:
        refuse("the size is no whole number of sectors")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    machine["media"][str(file)] = int(given["--sizebyte"])


def storageattach(machine: dict[str, Any], given: dict[str, str]) -> None:
    """Attaches a medium."""
    controller = machine["controllers"].get(given["--storagectl"]) or refuse("no such controller")
    if int(given["--port"]) >= controller["ports"] or given["--device"] != "0":
        refuse(f"The port and/or device parameter are out of range: {given['--port']}")
    if given["--medium"] not in machine["media"]:
        refuse(f"Could not find file for the medium '{given['--medium']}'")
    controller["attached"][given["--port"]] = given["--medium"]


def setextradata(machine: dict[str, Any], words: list[str]) -> None:
    """Says what a disk shows of itself; digits alone would be taken for a number."""
    name, value = words
    found = EXTRA.fullmatch(name) or refuse(f"no such key: {name}")
    text = value.removeprefix("string:")
    if text == value and value.isdigit():
        refuse(f"{name} is no string")
    if len(text) > LENGTHS[found[3]]:
        refuse(f"{name}: VERR_CFGM_... '{text}' is longer than {LENGTHS[found[3]]} characters")
    machine["extra"][f"{found[1]}/{found[2]}/{found[3]}"] = text


def showvminfo(machine: dict[str, Any]) -> None:
    """Prints the machine as `--machinereadable` does."""
    for number, (name, controller) in enumerate(machine["controllers"].items()):
        print(f'storagecontrollername{number}="{name}"\nstoragecontrollertype{number}="IntelAhci"')
        for port in range(controller["ports"]):
            print(f'"{name}-{port}-0"="{controller["attached"].get(str(port), "none")}"')


def main(state: Path, call: str, words: list[str]) -> None:
    """Carries out one call and keeps the machine in its file."""
    machine = json.loads(state.read_text()) if state.exists() else BOX
    if call == "showvminfo":
        assert words[1:] == ["--machinereadable"]
        showvminfo(machine)
    elif call == "modifyvm":
        machine["chipset"] = options(call, words[1:])["--chipset"]
    elif call == "storagectl":
        storagectl(machine, options(call, words[1:]))
    elif call == "createmedium":
        assert words[0] == "disk"
        createmedium(machine, options(call, words[1:]))
    elif call == "storageattach":
        storageattach(machine, options(call, words[1:]))
    elif call == "setextradata":
        setextradata(machine, words[1:])
    else:
        refuse(f"Invalid command '{call}'")
    state.write_text(json.dumps(machine))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
