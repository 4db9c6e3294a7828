"""winjoin_node: runs winjoin on the server by the connection's own shell, and reads its result document."""

import json
import shlex

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

VERBS = {"joined": "join", "absent": "reset", "upgraded": "upgrade"}
RESTART = 6
OPTIONS = {"state": str, "program": str, "endpoint": str, "token": str, "ca_cert_hashes": list, "arguments": list}


class ActionModule(ActionBase):
    TRANSFERS_FILES = True
    _supports_check_mode = True

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        given = self._options()
        verb = VERBS[given["state"]]
        if self._task.check_mode and verb != "join":
            return {**result, **self._foresee(given)}
        if self._task.check_mode and self._status(given).get("state") == "joined":
            return {**result, "changed": False, "exit_code": 0, "restart_required": False}
        done = self._winjoin(given, self._words(given, verb))
        document = _document(done["stdout"])
        code = done["rc"]
        result.update(exit_code=code, restart_required=code == RESTART, result=document,
                      changed=bool(document.get("changed", self._task.check_mode or code == RESTART)))
        if code not in (0, RESTART):
            result.update(failed=True, msg=_reason(document, done))
        return result

    def _options(self):
        given = {"state": "joined", "program": r"C:\Program Files\winjoin\winjoin.exe", "endpoint": "", "token": "",
                 "ca_cert_hashes": [], "arguments": []}
        for name, value in self._task.args.items():
            if name not in OPTIONS or not isinstance(value, OPTIONS[name]):
                raise AnsibleActionFail("winjoin_node: %s is not an option, or not a %s" % (
                    name, OPTIONS.get(name, str).__name__))
            given[name] = value
        if given["state"] not in VERBS:
            raise AnsibleActionFail("winjoin_node: state must be one of %s" % ", ".join(VERBS))
        return given

    def _words(self, given, verb):
        """winjoin's words; the token goes to the server as a file."""
        words = [verb]
        if verb == "join":
            words += [given["endpoint"]] if given["endpoint"] else []
            words += [word for pin in given["ca_cert_hashes"]
                      for word in ("--discovery-token-ca-cert-hash", pin)]
            words += ["--dry-run"] if self._task.check_mode else []
        if verb == "reset":
            words += ["--force"]
        return [*words, *map(str, given["arguments"])]

    def _foresee(self, given):
        """What check mode can say of a reset or an upgrade: a node that is not there needs none."""
        joined = self._status(given).get("state", "not-joined") != "not-joined"
        return {"changed": joined, "exit_code": 0, "restart_required": False}

    def _status(self, given):
        rootfs = [word for name, word in zip(given["arguments"], given["arguments"][1:]) if name == "--rootfs"]
        return _document(self._run(given, ["status", *(["--rootfs", *rootfs] if rootfs else [])])["stdout"])

    def _winjoin(self, given, words):
        if not given["token"] or words[0] != "join":
            return self._run(given, words)
        self._make_tmp_path()
        try:
            path = self._connection._shell.join_path(self._connection._shell.tmpdir, "token")
            self._transfer_data(path, given["token"])
            return self._run(given, [*words, "--token-file", path])
        finally:
            self._remove_tmp_path(self._connection._shell.tmpdir)

    def _run(self, given, words):
        words = [given["program"], *words, "-o", "json"]
        if getattr(self._connection._shell, "_IS_WINDOWS", False):
            line = "& " + " ".join("'%s'" % word.replace("'", "''") for word in words) + "; exit $LASTEXITCODE"
        else:
            line = " ".join(map(shlex.quote, words))
        return self._low_level_execute_command(line)


def _document(text):
    try:
        return json.loads(text[text.index("{"):])
    except ValueError:
        return {}


def _reason(document, done):
    error = document.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return "winjoin ended with exit code %d: %s" % (done["rc"], said or done["stderr"].strip() or done["stdout"].strip())
