"""What upstream's hosts and registry serve of a node's programs: archives, digests, documents."""
import functools
import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
import zipfile

from mirror import CONTENT

K8S = "dl.k8s.io/release/v1.37.1/bin/windows/amd64/"
CONTAINERD = ("github.com/containerd/containerd/releases/download/v2.4.2/"
              "containerd-2.4.2-windows-amd64.tar.gz")
PLUGINS = ("github.com/containernetworking/plugins/releases/download/v1.9.1/"
           "cni-plugins-windows-amd64-v1.9.1.tgz")
FLANNEL = "github.com/flannel-io/flannel/releases/download/v0.28.4/flanneld.exe"
RELEASE = "api.github.com/repos/flannel-io/flannel/releases/tags/v0.28.4"
FOLDER = "/up"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def zstd_header(size, window=None):
    """The header of a frame of `size` bytes (RFC 8878, 3.1.1.1); window: of 2 to that power, else of `size`."""
    magic = 0xFD2FB528
    if window is None:
        return struct.pack("<IBI", magic, 0xA0, size)
    return struct.pack("<IBBI", magic, 0x80, (window - 10) << 3, size)


def zstd(data, block=512, **more):
    """A .zst of it without compression, except of blocks of one byte."""
    out = zstd_header(len(data), **more)
    for at in range(0, len(data), block):
        part = data[at:at + block]
        kind = int(part == part[:1] * len(part))
        out += (len(part) << 3 | kind << 1 | (at + block >= len(data))).to_bytes(3, "little")
        out += part[:1] if kind else part
    return out


def packed(members, *odd_ones, compress=functools.partial(gzip.compress, mtime=0)):
    """A .tar.gz of {path: data}, and of ready TarInfos."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in members.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in odd_ones:
            archive.addfile(info)
    return compress(out.getvalue())


def info(name, kind=tarfile.REGTYPE, link="", size=0):
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.size = kind, link, size
    return made


RUNTIME = {"bin/containerd.exe": CONTENT["containerd"],
           "bin/containerd-shim-runhcs-v1.exe": CONTENT["containerd-shim-runhcs-v1"],
           "bin/ctr.exe": b"ctr"}
CNI = {"./win-overlay.exe": CONTENT["win-overlay"], "./host-local.exe": CONTENT["host-local"],
       "./LICENSE": b"license"}


def layout(kubernetes, runtime, plugins):
    """path -> content, as upstream has it. kubernetes: file name -> data; the others are archives."""
    files = {CONTAINERD: runtime, PLUGINS: plugins}
    for path, suffix in ((CONTAINERD, ".sha256sum"), (PLUGINS, ".sha256")):
        files[path + suffix] = b"%s  %s\n" % (sha256(files[path]).encode(), os.path.basename(path).encode())
    for name, data in kubernetes.items():
        files[K8S + name], files[K8S + name + ".sha256"] = data, sha256(data).encode()
    return files


def released(flanneld):
    """flanneld's own part of it."""
    return {FLANNEL: flanneld, RELEASE: json.dumps({"assets": [
        {"name": "flanneld-amd64", "digest": "sha256:" + "0" * 64},
        {"name": "flanneld.exe", "digest": "sha256:" + sha256(flanneld)}]}).encode()}


def releases(programs):
    """The same of a node's programs: file name -> data."""
    def some(folder, *names):
        return packed({folder + name: programs[name] for name in names if name in programs})
    return {**layout({name: programs[name] for name in ("kubelet.exe", "kube-proxy.exe")},
                     some("bin/", "containerd.exe", "containerd-shim-runhcs-v1.exe", "ctr.exe"),
                     some("./", "win-overlay.exe", "win-bridge.exe", "host-local.exe")),
            **released(programs["flanneld.exe"])}


def zipped(path):
    """The files of a .zip as Python's own zipfile packs them."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as made, zipfile.ZipFile(out, "w") as again:
        for name in made.namelist():
            item = zipfile.ZipInfo(name)
            item.create_system, item.create_version, item.extract_version = 3, 10, 10
            item.external_attr = 0o100644 << 16
            again.writestr(item, made.read(name))
    return out.getvalue()


PAUSE = "registry.k8s.io/v2/pause/"


def pause(layers):
    """The sandbox image as a registry has it: path -> content. layers: Windows' version -> data."""
    files, manifests = {}, []

    def blob(kind, data):
        files["%s%s/sha256:%s" % (PAUSE, kind, sha256(data))] = data
        return {"digest": "sha256:" + sha256(data), "size": len(data)}
    for version, data in layers.items():
        manifest = json.dumps({"schemaVersion": 2, "config": blob("blobs", b"{}"), "layers": [blob("blobs", data)]})
        manifests.append({**blob("manifests", manifest.encode()), "platform": {
            "os": "windows", "architecture": "amd64", "os.version": version}})
    files[PAUSE + "manifests/3.10.2"] = json.dumps({"schemaVersion": 2, "manifests": manifests}).encode()
    return files


OWN = "r.test/own/app:7"


def own(http, layer, build="10.0.20348.1"):
    """path -> answer of OWN, an image without an index, that has this layer, in pieces as they are asked for; and
    what it was asked for."""
    asked = []
    config = json.dumps({"os": "windows", "architecture": "amd64", "os.version": build}).encode()
    manifest = json.dumps({"schemaVersion": 2, "config": {"digest": "sha256:" + sha256(config), "size": len(config)},
                           "layers": [{"digest": "sha256:" + sha256(layer), "size": len(layer)}]}).encode()

    def give(server):
        begin = server.request.begin
        asked.append(begin)
        return http(layer[begin:], "206 Partial Content",
                    "Content-Range: bytes %d-%d/%d" % (begin, len(layer) - 1, len(layer))) if begin else http(layer)
    base = "r.test/v2/own/app/"
    return {base + "manifests/7": http(manifest), base + "manifests/sha256:" + sha256(manifest): http(manifest),
            base + "blobs/sha256:" + sha256(config): http(config),
            base + "blobs/sha256:" + sha256(layer): give}, asked


FILES = layout({name + ".exe": CONTENT[name] for name in ("kubelet", "kube-proxy")}, packed(RUNTIME),
               packed(CNI, info("./", tarfile.DIRTYPE)))
