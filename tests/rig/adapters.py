"""The network adapters of one Windows node as Windows would show them: aliases, addresses with
their origin, DNS servers, routes, and the external switch that takes an adapter over."""
import ipaddress
import uuid

import netns
import packets

OK, NOT_FOUND, BAD, EXISTS, UNSUPPORTED = 0, 1168, 87, 5010, 50
APIPA = "169.254.83.107/16"


class Adapters:
    """One node's. config: the node's file (winhost.py writes it); kept: what outlives a restart of
    the data plane, one JSON object that the caller stores."""

    def __init__(self, config, kept):
        self.ns = config["netns"]
        self._look = netns.Watch(self.ns).look
        self.nic = config["nic"]
        self.alias = config.get("alias", "Ethernet")
        self.others = config.get("others", [])
        self.kept = kept
        kept.setdefault("switch", False)
        kept.setdefault("away", False)
        kept.setdefault("settings", {"origin": config["origin"], "dns": config["dns"],
                                     "addresses": config["addresses"],
                                     "gateway": config["gateway"]})
        kept.setdefault("origins", {a: config["origin"] for a in config["addresses"]})
        kept["origins"].update(dict.fromkeys(config.get("advertised", []), "router"))
        kept.setdefault("dns", {self.nic: list(config["dns"])})
        kept.setdefault("suffix", {})
        kept.setdefault("forwarding", {})
        kept.setdefault("forwarding6", {})
        for family, metric in zip(("metric", "metric6"), config.get("metrics", (25, 25))):
            kept.setdefault(family, {self.nic: metric})
        self.host_endpoints = {}  # device -> alias
        self.internal = {}  # the same for the switches of NAT networks

    @property
    def uplink(self):
        return "vsw0" if self.kept["switch"] else self.nic

    # ---- the switch: made with the first network on the adapter, gone with the last -----------

    def follow(self, state):
        """Makes the machine's adapter what the model says about it."""
        said = next((a for a in state.adapters if a.get("alias") == self.alias), {})
        wanted = bool(said.get("vnic")) if said else any(
            n.kind in ("L2Bridge", "L2Tunnel", "Overlay", "Transparent") for n in state.networks)
        away = bool(said.get("away"))
        if wanted != self.kept["switch"]:
            self._switch(wanted)
        if away and not self.kept["away"]:
            self._leave()
        if not away and self.kept["away"]:
            self._return(lost=bool(said.get("staticLost")))
        self.host_endpoints = {packets.device("he", e.id): "vEthernet (%s)" % (e.name or e.id)
                               for e in state.endpoints if e.on_host}
        self.internal = {packets.device("gw", n.id): "vEthernet (%s)" % n.name
                         for n in state.networks if n.kind == "NAT"}
        return self.host(state)

    def _switch(self, make):
        """The settings move to the virtual adapter; what the adapter had comes back to it later."""
        look = self._look()
        nic, link, now = self.nic, look.links[self.nic], self._settings(look)
        if make:
            self.kept["own"] = now
            lines = ["link add vsw0 address %s type bridge" % link["address"],
                     "link set %s master vsw0" % nic, "addr flush dev %s" % nic,
                     "link set vsw0 mtu %d up" % link["mtu"]]
        else:
            now = self.kept.pop("own", now)
            lines = ["link set %s nomaster" % nic, "link del vsw0"]
        self.kept["dns"].pop(self.uplink, None)
        netns.ip_batch(self.ns, lines)
        self.kept["switch"] = make
        self._put(now)

    def _settings(self, look):
        up = self.uplink
        return {"addresses": look.addresses(up), "routes": [" ".join(r) for r in look.routes(up)],
                "dns": self.kept["dns"].get(up, [])}

    def _leave(self):
        """The uplink is gone, and everything that was set on it; without fe80:: it asks for no neighbors."""
        self.kept["before"] = self._settings(self._look())
        netns.ip_batch(self.ns, ["link set %s down" % self.nic,
                                 "addr flush dev %s scope global" % self.uplink])
        self.kept["dns"][self.uplink] = []
        self.kept["away"] = True
        self.resolv()

    def _return(self, lost):
        before = self.kept.pop("before", {"addresses": [], "routes": [], "dns": []})
        netns.ip(self.ns, "link set", self.nic, "up")
        self.kept["away"] = False
        if lost:
            self.kept["origins"][APIPA] = "linklayer"
            told = [a for a in before["addresses"] if self.kept["origins"].get(a) == "router"]
            before = {"addresses": [APIPA, *told], "dns": [],
                      "routes": [r for r in before["routes"] if told and " fe80:" in r]}
        self._put(before)

    def _put(self, settings):
        up = self.uplink
        netns.ip_batch(self.ns, ["addr replace %s dev %s%s" % (a, up, " nodad" if ":" in a else "")
                                 for a in settings["addresses"]]
                       + ["route replace %s dev %s" % (r, up) for r in settings["routes"]])
        self.kept["dns"][up] = settings["dns"]
        self.resolv()

    def resolv(self):
        servers = [s for d in (self.uplink, self.nic) for s in self.kept["dns"].get(d, [])]
        netns.resolv(self.ns, dict.fromkeys(servers or ["127.0.0.53"]))

    def host(self, state):
        """The node as the packet rules need it; the pods are filled in by the caller."""
        look = self._look()
        mine = [a.split("/")[0] for a in look.addresses(self.uplink) if a != APIPA]
        first = {family: next((a for a in mine if (":" in a) == (family == 6)), "")
                 for family in (4, 6)}
        flags = [{d: bool(v) for d, v in self.kept[kind].items()}
                 for kind in ("forwarding", "forwarding6")]
        del state
        return packets.Host(self.ns, self.uplink, first[4], look.links[self.nic]["mtu"], flags[0],
                            address6=first[6], forwarding6=flags[1])

    # ---- what is there ---------------------------------------------------------------------

    def visible(self):
        """(device, alias) of every adapter that IP is bound to."""
        first = ("vsw0", "vEthernet (%s)" % self.alias) if self.kept["switch"] else (
            self.nic, self.alias)
        others = [(o["nic"], o["alias"]) for o in self.others if o["bound"]]
        return [*others, first, *self.host_endpoints.items(), *self.internal.items(),
                ("lo", "Loopback Pseudo-Interface 1")]

    # ---- the calls of iphlpapi, one line each; answers lines, the last one says how it went -----

    def call(self, line):
        words = line.split()
        handler = getattr(self, "_call_" + words[0].replace("-", "_"), None) if words else None
        if not handler:
            return ["error %d" % UNSUPPORTED]
        try:
            rows = handler(*words[1:])
        except LookupError:
            return ["error %d" % NOT_FOUND]
        except (ValueError, TypeError):
            return ["error %d" % BAD]
        except RuntimeError as why:
            return ["error %d" % (EXISTS if "exists" in str(why) else NOT_FOUND)]
        return (rows or []) + ["ok"]

    def _call_adapters(self):
        """adapter|index|alias|mac|mtu|up|type|guid|metric|forwarding|dhcp|bound|forwarding6|metric6,
        then its rows."""
        out, look = [], self._look()
        names = self.visible() + [(o["nic"], o["alias"]) for o in self.others if not o["bound"]]
        if self.kept["switch"]:
            names = names + [(self.nic, self.alias)]
        for dev, alias in names:
            link = look.links.get(dev)
            if not link:
                continue
            bound = (dev, alias) in self.visible()
            index = link["ifindex"]
            up = "UP" in link["flags"] and not (self.kept["away"] and dev in ("vsw0", self.nic))
            out.append("|".join(map(str, (
                "adapter", index, alias, link.get("address", ""), link["mtu"], int(up),
                24 if dev == "lo" else 6, "{%s}" % uuid.uuid5(uuid.NAMESPACE_DNS, alias),
                self.kept["metric"].get(dev, 25), int(self.kept["forwarding"].get(dev, 0)),
                int(self.kept["settings"]["origin"] == "dhcp" and dev in ("vsw0", self.nic)),
                int(bound), int(self.kept["forwarding6"].get(dev, 0)),
                self.kept["metric6"].get(dev, 25)))))
            if bound:
                out += self._rows(look, dev, index)
        return out

    def _rows(self, look, dev, index):
        out = []
        for a in look.addresses(dev):
            origin = self.kept["origins"].get(a, "static")
            out.append("address|%d|%s|%s" % (index, a.replace("/", "|"), origin))
        out += ["dns|%d|%s" % (index, s) for s in self.kept["dns"].get(dev, [])]
        out += ["gateway|%d|%s" % (index, r[2]) for r in look.routes(dev)
                if r[0] == "default"]
        if self.kept["suffix"].get(dev):
            out.append("suffix|%d|%s" % (index, self.kept["suffix"][dev]))
        return out

    def _call_routes(self):
        """route|index|prefix|length|next hop|metric|origin (static, or local: an address' own)"""
        out, look = [], self._look()
        for dev, _ in self.visible():
            if dev not in look.links:
                continue
            index = look.links[dev]["ifindex"]
            for r in look.routes(dev):
                six = ":" in r[0] or "via" in r and ":" in r[2]
                net = ("::/0" if six else "0.0.0.0/0") if r[0] == "default" else (
                    r[0] if "/" in r[0] else r[0] + ("/128" if six else "/32"))
                hop = r[2] if "via" in r else "::" if six else "0.0.0.0"
                metric = r[-1] if "metric" in r else "0"
                out.append("route|%d|%s|%s|%s|static" % (index, net.replace("/", "|"), hop, metric))
            for a in look.addresses(dev):
                net = ipaddress.ip_interface(a).network
                out.append("route|%d|%s|%d|%s|256|local" % (
                    index, net.network_address, net.prefixlen,
                    "::" if net.version == 6 else "0.0.0.0"))
        return out

    def _words(self, index, prefix, length, hop, metric=None):
        dev = self._bound(index)
        text = "%s/%d" % (ipaddress.ip_address(prefix), int(length))
        via = "" if hop in ("0.0.0.0", "::") else " via %s" % ipaddress.ip_address(hop)
        # Windows adds the interface's metric to a route's own; the kernel's key is this one.
        own = " metric %d" % int(metric) if metric and int(metric) else ""
        return "%s%s dev %s onlink%s" % (text, via, dev, own) if via else "%s dev %s%s" % (
            text, dev, own)

    def _bound(self, index):
        dev = self._look().device(int(index))
        if dev not in dict(self.visible()):
            raise LookupError(index)
        return dev

    def _call_route_add(self, index, prefix, length, hop, metric="0"):
        netns.ip(self.ns, "route add", self._words(index, prefix, length, hop, metric))

    def _call_route_del(self, index, prefix, length, hop):
        dev = self._bound(index)
        via = "" if hop in ("0.0.0.0", "::") else "via %s" % hop
        netns.ip(self.ns, "route del %s/%s %s dev %s" % (prefix, length, via, dev))

    def _call_address_add(self, index, address, length, origin="static"):
        dev, text = self._bound(index), "%s/%d" % (ipaddress.ip_address(address), int(length))
        netns.ip(self.ns, "addr add", text, "dev", dev, "nodad" if ":" in text else "")
        self.kept["origins"][text] = origin
        if APIPA in self._look().addresses(dev):
            netns.ip(self.ns, "addr del", APIPA, "dev", dev, check=False)

    def _call_address_del(self, index, address, length=None):
        dev = self._bound(index)
        text = next(a for a in self._look().addresses(dev) + [""] if a.split("/")[0] == address)
        del length
        netns.ip(self.ns, "addr del", text, "dev", dev)

    def _call_interface(self, index, *settings):
        dev = self._bound(index)
        for setting in settings:
            name, value = setting.split("=")
            if name == "mtu":
                netns.ip(self.ns, "link set", dev, "mtu", int(value))
            elif name in ("forwarding", "forwarding6", "metric", "metric6"):
                self.kept[name][dev] = int(value)
            else:
                raise ValueError(name)

    def _call_dns(self, index, servers="-", suffix="-", family="4"):
        dev = self._bound(index)
        if servers != "-":
            given = [str(ipaddress.ip_address(s)) for s in servers.split(",") if s != "none"]
            four, six = ([s for s in self.kept["dns"].get(dev, []) if (":" in s) == v6]
                         for v6 in (False, True))
            self.kept["dns"][dev] = four + given if family == "6" else given + six
        if suffix != "-":
            self.kept["suffix"][dev] = "" if suffix == "none" else suffix
        self.resolv()
