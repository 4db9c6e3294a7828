#!/usr/bin/python
"""The documentation of winjoin_node; the work is done by the action plugin of this name, for any shell."""

DOCUMENTATION = r"""
---
module: winjoin_node
short_description: Joins a Windows Server to a Kubernetes cluster by winjoin
description:
  - Runs winjoin on the server and gives back its result document.
  - Check mode changes nothing; C(joined) then plans the join (C(winjoin join --dry-run)).
options:
  state:
    description: What the server is to be.
    type: str
    choices: [joined, absent, upgraded]
    default: joined
  program:
    description: Path of winjoin.exe on the server.
    type: str
    default: 'C:\Program Files\winjoin\winjoin.exe'
  endpoint:
    description: HOST:PORT of the API server.
    type: str
  token:
    description: Bootstrap token. It goes to the server as a file that is removed, not on a command line.
    type: str
  ca_cert_hashes:
    description: Pins of the cluster's CA, C(sha256:<hex>).
    type: list
    elements: str
    default: []
  arguments:
    description: More words for the command, one an item.
    type: list
    elements: str
    default: []
author: winjoin
"""

EXAMPLES = r"""
- name: Join
  winjoin_node:
    endpoint: 10.0.0.10:6443
    token: "{{ token }}"
    ca_cert_hashes: ["sha256:1234"]
"""

RETURN = r"""
result:
  description: winjoin's own result document.
  type: dict
  returned: when winjoin printed one
exit_code:
  description: winjoin's exit code (0 done, 6 restart Windows and run it again).
  type: int
  returned: always
restart_required:
  description: Windows must be restarted before the join can go on.
  type: bool
  returned: always
"""
