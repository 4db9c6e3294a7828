"""The house lint sees each breach, and sees none in strings, comments and lawful code."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import house  # noqa: E402

HEAD = "/* A file. */\n"


class House(unittest.TestCase):
    def found(self, path, body, head=HEAD):
        return [message for _, message in house.check_file(path, head + body)]

    def test_lawful(self):
        body = 'static int f(void) {\n    /* strcpy(a, b) */\n    return x_free("system(1)"), host->exit(3);\n}\n'
        self.assertEqual(self.found("join/a.c", body), [])
        self.assertEqual(self.found("cmd/a.c", "int f(void) {\n    return puts(s);\n}\n"), [])

    def test_banned(self):
        for call in ("strcpy(a, b)", "sprintf(a, b)", "atoi (a)", "system(a)", "strtok(a, b)"):
            self.assertTrue(self.found("tests/unit/a.c", f"int f(void) {{\n    {call};\n}}\n"), call)

    def test_homes(self):
        for line in ("printf(x);", "fputs(x, stderr);", "exit(1);", "abort();", "p = malloc(3);", "#ifdef _WIN32"):
            self.assertTrue(self.found("join/a.c", line + "\n"), line)

    def test_values(self):
        breaches = ('if (text_equal(join->plan.mode->name, "overlay"))', 'if (strcmp(plugin, "win-bridge") == 0)',
                    'if (text_equal_nocase(mode,\n                           "L2Bridge"))',
                    'if (plan->mode == &network_mode_overlay)', 'agent = &network_agent_flannel;',
                    'if (text_equal(f(a, b), "flannel"))')
        lawful = ('if (mode->vxlan)', 'mode = network_mode_by_name(name);', 'network_agents(&count);',
                  'const struct network_mode *mode;', 'network_plugin_check(name, err);',
                  'if (text_equal(mode->name, name)) /* "overlay" */', 'f("overlay"), text_equal(a, "b");',
                  'network_mode_names(&list), network_agent_cni(agent, plugin, mode);')
        for line in breaches:
            for folder in ("join/phases", "diag/causes", "cmd", "services", "netsetup", "kube"):
                self.assertTrue(self.found(f"{folder}/a.c", f"    {line}\n"), line)
            for folder in ("netsetup/modes", "netsetup/agents", "host/model", "tests/unit"):
                self.assertEqual(self.found(f"{folder}/a.c", f"    {line}\n"), [], line)
        for line in lawful:
            self.assertEqual(self.found("join/a.c", f"    {line}\n"), [], line)

    def test_opening(self):
        self.assertTrue(self.found("join/a.c", "int a;\n", head=""))
        self.assertTrue(self.found("join/a.h", "int a;\n"))
        self.assertEqual(self.found("join/a.h", "#pragma once\n"), [])

    def test_length(self):
        body = "static int long_one(int a,\n                    int b) {\n" + "    a++;\n" * 65 + "}\n"
        self.assertIn("long_one() has 66 lines (at most 65)", self.found("join/a.c", body))
        self.assertEqual(self.found("join/a.c", body.replace("    a++;\n", "", 1)), [])
        self.assertTrue(self.found("join/a.c", "int a;\n" * 500))

    def test_undone_and_vague(self):
        self.assertTrue(self.found("join/a.c", "/* TO" + "DO */\n"))
        self.assertTrue(self.found("join/utils.c", "int a;\n"))


if __name__ == "__main__":
    unittest.main()
