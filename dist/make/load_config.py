#!/usr/bin/env python3
"""The load configuration of a Windows program (host/win32/load_config.c).

    load_config.py enter PROGRAM   enters the symbol _load_config_used into the program's header, as
                                   Microsoft's linker does and that of Debian 12 does not
    load_config.py flags PROGRAM   prints where Windows looks for what the program imports: 0x800 is
                                   System32 alone; 0x0 where there is no such table

The layout is that of "PE Format" in Microsoft's documentation.
"""

import struct
import sys

SYMBOL = b"_load_config_used"
DIRECTORY, DEPENDENT_LOAD_FLAGS, LEAST = 10, 0x4E, 0x50


class Program:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        coff = self.number("I", 0x3C) + 4
        if self.data[:2] != b"MZ" or self.data[coff - 4:coff] != b"PE\0\0":
            raise ValueError("not a Windows program")
        sections, self.symbols, self.symbol_count, optional = struct.unpack_from("<2xH4xIIH", self.data, coff)
        self.header = coff + 20
        if self.number("H", self.header) != 0x20B:
            raise ValueError("not a 64-bit program")
        self.entry = self.header + 112 + 8 * DIRECTORY
        self.sections = [struct.unpack_from("<8xIIII", self.data, self.header + optional + 40 * i) for i in range(sections)]

    def number(self, form, place):
        return struct.unpack_from("<" + form, self.data, place)[0]

    def place(self, address):
        """Where in the file an address of the loaded program is."""
        for size, start, raw_size, raw in self.sections:
            if start <= address < start + min(size, raw_size):
                return raw + address - start
        raise ValueError("address %#x is in no section" % address)

    def symbol(self, name):
        """The address of a symbol, whose name is too long for the table itself."""
        strings, i = self.symbols + 18 * self.symbol_count, 0
        while self.symbols and i < self.symbol_count:
            zeros, offset, value, section, more = struct.unpack_from("<IIIh3xB", self.data, self.symbols + 18 * i)
            if not zeros and section > 0 and self.data[strings + offset:].startswith(name + b"\0"):
                return self.sections[section - 1][1] + value
            i += 1 + more
        raise ValueError("no symbol %s" % name.decode())

    def enter(self):
        address = self.symbol(SYMBOL)
        struct.pack_into("<II", self.data, self.entry, address, self.number("I", self.place(address)))
        struct.pack_into("<I", self.data, self.header + 64, 0)
        struct.pack_into("<I", self.data, self.header + 64, self.checksum())

    def checksum(self):
        """The sum of all 16-bit words with the carries added again, and the length."""
        data = bytes(self.data) + b"\0" * (len(self.data) % 2)
        total = sum(struct.unpack("<%dH" % (len(data) // 2), data))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        return total + len(self.data)

    def flags(self):
        address, size = struct.unpack_from("<II", self.data, self.entry)
        place = self.place(address) if address else 0
        if not address or min(size, self.number("I", place)) < LEAST:
            return 0
        return self.number("H", place + DEPENDENT_LOAD_FLAGS)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("enter", "flags"):
        sys.exit(__doc__)
    try:
        program = Program(sys.argv[2])
        if sys.argv[1] == "enter":
            program.enter()
            with open(sys.argv[2], "r+b") as file:
                file.write(program.data)
        else:
            print(hex(program.flags()))
    except (OSError, ValueError, struct.error) as why:
        sys.exit("error: read the load configuration of '%s': %s" % (sys.argv[2], why))


if __name__ == "__main__":
    main()
