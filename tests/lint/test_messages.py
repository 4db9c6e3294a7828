"""The list of messages has whole sentences and no code; the words that puzzled readers are seen."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import messages  # noqa: E402


class Messages(unittest.TestCase):
    def test_sentences(self):
        source = '/* "a comment is none" */\n#include "base/error.h"\nf("read \'%s\': "\n  "not a folder");\ng("x");\n'
        self.assertEqual(list(messages.messages(source)), [(3, "read '%s': not a folder")])

    def test_words(self):
        for text in ("routes were laid", "mend the host", "it is no folder", "an artefact", "sc start hns", "take back"):
            self.assertTrue(messages.WORDS.search(text), text)
        for text in ("always", "there is no folder", "sc.exe start hns", "an overlay", "delayed", "in the layout"):
            self.assertFalse(messages.WORDS.search(text), text)

    def test_comments_and_names(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for tree in messages.TREES:
                (root / tree).parent.mkdir(exist_ok=True)
                (root / tree).touch() if "." in tree or tree == "Makefile" else (root / tree).mkdir()
            (root / "tests/a.py").write_text("def lay():\n    pass  # always\n")
            (root / "base/a.c").write_text("/* a route is\n * laid */\n")
            self.assertEqual([found.split(": ")[0] for found in messages.check_texts(root)], ["base/a.c:2", "tests/a.py:1"])


if __name__ == "__main__":
    unittest.main()
