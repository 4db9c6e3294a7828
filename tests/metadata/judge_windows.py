"""judge_windows.py METADATA: winjoin's Windows programs and sources against Microsoft's metadata of Windows' API.

Run by tests/metadata/windows_api.py with the Python that has the reader of metadata (winmd). Prints what differs; last line:
N passed, N failed, N skipped.
"""
import collections
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import winmd.reader as winmd

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "dist/make"))
import load_config  # noqa: E402  (reads a Windows program)

CC, NM = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-nm"
# The oldest Windows that winjoin runs on, Server 2019, is Windows 10 1809 to the metadata.
OLDEST = (10, 0, 17763)
# Functions whose first version the metadata does not state; their documentation does (or their DLL's, where it is older).
WITHOUT_VERSION = {
    "Windows 2000, by their documentation": """AllocConsole FindResourceW GenerateConsoleCtrlEvent GetConsoleMode
        GetConsoleScreenBufferInfo GetStdHandle SetConsoleCtrlHandler SetConsoleMode SetConsoleOutputCP SysAllocString
        SysFreeString WaitNamedPipeW""",
    "each 64-bit Windows: it unwinds the stack": "RtlVirtualUnwind",
    "Windows 10 2004: winjoin has netsh in its place": "SetInterfaceDnsSettings",
    "Server 2019: the Containers feature": "computenetwork.dll"}
WITHOUT_VERSION = {name: why for why, names in WITHOUT_VERSION.items() for name in names.split()}
# What the metadata lacks.
ABSENT = {"msvcrt.dll": "the C library", "dismapi.dll": "of the Windows ADK", "vmcompute.dll": "not documented; hcsshim has it"}
# Ours -> the metadata's, in the order of the fields.
STRUCTURES = [
    ("host/win32/interfaces.c", "dns_settings", "DNS_INTERFACE_SETTINGS"),
    ("host/win32/http_system.c", "proxy_info", "WINHTTP_PROXY_INFO")]
# Structures of which one field matters.
FIELDS = [("host/win32/load_config.c", "load_config", "dependent_load_flags", "IMAGE_LOAD_CONFIG_DIRECTORY64", "DependentLoadFlags")]
CONSTANTS = [
    ("host/win32/interfaces.c", "DNS_SETTINGS_VERSION1", "DNS_INTERFACE_SETTINGS_VERSION1"),
    ("host/win32/interfaces.c", "DNS_SETTINGS_IPV6", "DNS_SETTING_IPV6"),
    ("host/win32/interfaces.c", "DNS_SETTINGS_NAMESERVER", "DNS_SETTING_NAMESERVER"),
    ("host/win32/http_system.c", "NAMED_PROXY", "WINHTTP_ACCESS_TYPE_NAMED_PROXY"),
    ("host/win32/win32.h", "WIN32_ERROR_ELEVATION_REQUIRED", "ERROR_ELEVATION_REQUIRED"),
    ("host/win32/win32.h", "WIN32_IN_JOB", "PROC_THREAD_ATTRIBUTE_JOB_LIST")]
# COM's interfaces that host/win32 uses, whose methods must stand where Windows has them.
INTERFACES = ("INetFwPolicy2", "INetFwRules", "INetFwRule")
IDISPATCH = 7  # methods before an interface's own
SIZES = {"I1": 1, "U1": 1, "Boolean": 1, "I2": 2, "U2": 2, "Char": 2, "I4": 4, "U4": 4, "R4": 4, "I8": 8, "U8": 8, "R8": 8, "I": 8, "U": 8}


# --- the metadata --------------------------------------------------------------------------------


class Metadata:
    def __init__(self, path):
        self.cache = winmd.cache([path])
        self.functions = collections.defaultdict(list)  # name -> (DLL, method)
        self.types, self.constants = {}, {}
        for database in self.cache.databases():
            for row in database.ImplMap:
                self.functions[row.ImportName()].append((row.ImportScope().Name(), row.MemberForwarded().MethodDef()))
        for members in self.cache.namespaces().values():
            for name, kind in members.types.items():
                self.types.setdefault(name, kind)
                self.constants.update((f.Name(), f) for f in kind.FieldList() if f.Flags().Literal())

    def constant(self, name):
        return int(self.constants[name].Constant().Value()) & 0xFFFFFFFF if name in self.constants else None

    @staticmethod
    def attribute(row, name):
        for one in row.CustomAttribute():
            if one.TypeNamespaceAndName()[1] == name + "Attribute":
                return [argument.value.value for argument in one.Value().FixedArgs()]
        return None

    def since(self, method):
        """The first version of Windows: (10, 0, 17763); None where it is not stated."""
        stated = self.attribute(method, "SupportedOSPlatform")
        return tuple(int(n) for n in re.findall(r"\d+", stated[0])) if stated else None

    def guid(self, name):
        a = self.attribute(self.types[name], "Guid")
        return "%08x-%04x-%04x-%s" % (a[0], a[1], a[2], bytes(a[3:]).hex())

    def size(self, signature):
        """(size, alignment) of a field's type on 64-bit Windows."""
        if signature.ptr_count():
            return 8, 8
        kind = signature.Type()
        if isinstance(kind, winmd.ElementType):
            return (SIZES[kind.name],) * 2
        found = winmd.find_required(kind)
        category = winmd.get_category(found)
        if category == winmd.category.enum_type:
            return (SIZES[found.get_enum_definition().m_underlying_type.name],) * 2
        if category != winmd.category.struct_type:
            return 8, 8
        _, size, alignment = self.layout(found)
        return size, alignment

    def layout(self, kind):
        """(name and offset of each field, size, alignment) of a structure without arrays, unions and packing."""
        fields, at, widest = [], 0, 1
        for field in kind.FieldList():
            size, alignment = self.size(field.Signature().Type())
            at = -(-at // alignment) * alignment
            fields.append((field.Name(), at))
            at, widest = at + size, max(widest, alignment)
        return fields, -(-at // widest) * widest, widest


# --- the programs --------------------------------------------------------------------------------


class Program(load_config.Program):
    def text(self, address):
        place = self.place(address)
        return self.data[place:self.data.index(0, place)].decode()

    def table(self, at, form, name, functions):
        """(DLL, function) of import descriptors from this address on."""
        while (row := struct.unpack_from("<" + form, self.data, self.place(at)))[name]:
            each = row[functions]
            while entry := self.number("Q", self.place(each)):
                yield self.text(row[name]), "#%d" % (entry & 0xFFFF) if entry >> 63 else self.text(entry + 2)
                each += 8
            at += struct.calcsize(form)

    def imports(self):
        yield from self.table(self.number("I", self.header + 120), "5I", 3, 0)

    def delayed(self, path):
        """What is loaded at its first call: the linker leaves these tables to their symbols."""
        symbols = subprocess.run([NM, path], capture_output=True, text=True, check=True).stdout
        base = self.number("Q", self.header + 24)
        for address in re.findall(r"(\w+) T __DELAY_IMPORT_DESCRIPTOR_", symbols):
            yield from list(self.table_of_one(int(address, 16) - base))

    def table_of_one(self, at):
        row = struct.unpack_from("<8I", self.data, self.place(at))
        each = row[4]
        while entry := self.number("Q", self.place(each)):
            yield self.text(row[1]), self.text((entry & 0xFFFFFFFF) + 2)
            each += 8


def sources(*folders):
    return {path.relative_to(ROOT): path.read_text(encoding="utf-8") for folder in folders for path in sorted((ROOT / folder).rglob("*.[ch]"))}


def looked_up():
    """(DLL, function) of what host/win32 looks up by name, HNS' exports by the table in hns.c included."""
    win32 = sources("host/win32")
    for text in win32.values():
        yield from re.findall(r'win32_function\(\s*L"([^"]+)",\s*"(\w+)"', text)
        yield from (("iphlpapi.dll", name) for name in re.findall(r"WIN32_IPHLPAPI\((\w+), err\)", text) if name != "function")
    everywhere = "".join(sources("base", "host", "kube", "netsetup", "services", "node", "diag", "join", "cmd").values())
    shapes = hns_shapes()
    for name in sorted(set(re.findall(r'"((?:Hcn(?:Enumerate|Create|Open|Query|Modify|Delete|Close)\w+|HNSCall))"', everywhere))):
        yield next(shape[1] for shape in shapes if name.startswith(shape[0])), name


def hns_shapes():
    """(beginning of the name, DLL, inputs, outputs) of hns.c, in its order."""
    return re.findall(r'\{"(\w+)", "(\w+\.dll)", "(\w*)", "(\w*)"\}', (ROOT / "host/win32/hns.c").read_text(encoding="utf-8"))


# --- the checks: each yields (what, what is wrong or None) -----------------------------------------


def wrong_function(metadata, dll, name):
    if dll.lower() in ABSENT:
        return None if name not in metadata.functions else "the metadata has it now: take %s out of ABSENT" % dll
    found = [method for there, method in metadata.functions.get(name, []) if there.lower() == dll.lower()]
    if not found:
        return "in %s, says the metadata" % (", ".join(there for there, _ in metadata.functions.get(name, [])) or "no DLL")
    since = metadata.since(found[0])
    if since is None:
        return None if name in WITHOUT_VERSION or dll.lower() in WITHOUT_VERSION else "the metadata states no version: see WITHOUT_VERSION"
    return None if since <= OLDEST else "came with Windows %s" % ".".join(map(str, since))


def functions(metadata):
    for name in ("winjoin", "winjoin-probe"):
        path = ROOT / ("build/windows/%s.debug.exe" % name)
        program = Program(path)
        delayed = set(program.delayed(path))
        yield "%s's delayed functions are found" % name, None if delayed else "none"
        for dll, function in sorted({*program.imports(), *delayed}):
            if dll.lower() != "msvcrt.dll":
                yield "%s imports %s of %s" % (name, function, dll), wrong_function(metadata, dll, function)
    for dll, function in sorted(set(looked_up())):
        yield "%s of %s is looked up" % (function, dll), wrong_function(metadata, dll, function)


def hns_parameters(metadata):
    """hns.c's letters of what an export takes and gives."""
    letters = {"Guid": "g", "PWSTR": "s"}
    for dll, name in sorted(set(looked_up())):
        shape = next((shape for shape in hns_shapes() if name.startswith(shape[0])), None)
        if not shape or dll in ABSENT:
            continue
        stated = ""
        for parameter in metadata.functions[name][0][1].Signature().Params():
            kind, pointers = parameter.Type().Type(), parameter.Type().ptr_count()
            letter = "h" if isinstance(kind, winmd.ElementType) else letters[winmd.get_type_namespace_and_name(kind)[1]]
            inward = {"h": 1, "g": 1, "s": 0}[letter]
            stated += letter if pointers == inward else letter.upper()
        ours = shape[2] + shape[3].replace("E", "S")
        yield "%s takes and gives" % name, None if ours == stated else "%s, not %s" % (stated, ours)


def asserted(path, lines):
    """What a C file that includes ours says against static assertions."""
    with tempfile.NamedTemporaryFile("w", suffix=".c", encoding="utf-8") as file:
        file.write('#include "%s"\n#include <stddef.h>\n%s\n' % (path, "\n".join(lines)))
        file.flush()
        flags = ["-std=gnu11", "-DUNICODE", "-D_UNICODE", "-D_WIN32_WINNT=0x0a00", "-I.", "-isystem", "build/windows/libs/include", "-w",
                 "-fsyntax-only"]
        done = subprocess.run([CC, *flags, "-x", "c", file.name], cwd=ROOT, capture_output=True, text=True, check=False)
    return "; ".join(re.findall(r"error: (.*)", done.stderr)) if done.returncode else None


def fields_of(path, name):
    """The names in a structure of ours, in their order."""
    body = re.search(r"^struct %s \{(.*?)^\};" % name, (ROOT / path).read_text(encoding="utf-8"), re.M | re.S)[1]
    lines = re.sub(r"/\*.*?\*/", "", body, flags=re.S).split(";")
    return [re.search(r"(\w+)$", part.strip())[1] for line in lines for part in line.split(",") if part.strip()]


def structures(metadata):
    for path, ours, theirs in STRUCTURES:
        fields, size, _ = metadata.layout(metadata.types[theirs])
        names = fields_of(path, ours)
        yield "%s: struct %s has the fields of %s" % (path, ours, theirs), None if len(names) == len(fields) else str(names)
        lines = ["_Static_assert(sizeof(struct %s) == %d, \"size %d\");" % (ours, size, size)]
        lines += ['_Static_assert(offsetof(struct %s, %s) == %d, "%s as %s at %d");' % (ours, name, at, name, their, at)
                  for name, (their, at) in zip(names, fields)]
        yield "%s: struct %s has the layout of %s" % (path, ours, theirs), asserted(path, lines)
    for path, ours, field, theirs, their in FIELDS:
        at = dict(metadata.layout(metadata.types[theirs])[0])[their]
        line = '_Static_assert(offsetof(struct %s, %s) == %d, "at %d");' % (ours, field, at, at)
        yield "%s: %s is where %s has %s" % (path, field, theirs, their), asserted(path, [line])


def constants(metadata):
    for path, ours, theirs in CONSTANTS:
        value = metadata.constant(theirs)
        line = '_Static_assert(%s == %s, "%s is %s");' % (ours, value, theirs, value)
        yield "%s: %s is %s" % (path, ours, theirs), "not in the metadata" if value is None else asserted(path, [line])
    text = (ROOT / "host/hcn.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{(0x\w+), \w+, "(\w+)"\}', text)
    yield "host/hcn.c has a table", None if len(rows) > 50 else "%d rows" % len(rows)
    for number, name in rows:
        value = metadata.constant(name)
        yield "host/hcn.c: %s" % name, None if value == int(number, 16) else "%s, not %s" % (value if value is None else hex(value), number)


    known = {name for name in metadata.constants if re.match(r"(HCN|GCN)_E_", name)}
    for name in sorted(known - {name for _, name in rows}):
        yield "host/hcn.c lacks %s" % name, hex(metadata.constant(name))


def interfaces(metadata):
    win32 = "".join(sources("host/win32").values())
    expanded = subprocess.run([CC, "-E", "-DINITGUID", "-include", "windows.h", "-x", "c", "-"], input="#include <netfw.h>\n", text=True,
                              capture_output=True, check=True).stdout
    for constant in sorted(set(re.findall(r"&((?:IID|CLSID)_\w+)", win32))):
        value = re.search(r"\b%s [^;]*=\s*\{(.*?)\}\s*\}" % constant, expanded, re.S)
        numbers = [int(n, 16) for n in re.findall(r"0x\w+", value[1])] if value else []
        ours = "%08x-%04x-%04x-%s" % (*numbers[:3], bytes(numbers[3:]).hex()) if numbers else "not found"
        theirs = metadata.guid(constant.partition("_")[2])
        yield constant, None if ours == theirs else "%s, not %s" % (theirs, ours)
    for name in INTERFACES:
        methods = [method.Name() for method in metadata.types[name].MethodList()]
        lines = ['_Static_assert(offsetof(%sVtbl, %s) == %d, "%s is number %d");' % (name, method, 8 * (IDISPATCH + i), method, i)
                 for i, method in enumerate(methods)]
        yield "the methods of %s" % name, asserted("host/win32/firewall.c", lines)


def main():
    metadata = Metadata(sys.argv[1])
    passed = failed = 0
    for check in (functions, hns_parameters, structures, constants, interfaces):
        before = passed + failed
        for what, wrong in check(metadata):
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print("%s: %s" % (what, wrong))
        print("%s: %d" % (check.__name__, passed + failed - before))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
