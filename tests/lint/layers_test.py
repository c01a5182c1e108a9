#!/usr/bin/env python3
"""The layer lint finds what it is there to find."""
import unittest

import layers

ORDER = layers.read_order("""
```
main.cpp    hands over
relay/      one transaction
upstream/   connections, pool        window/   protocol
net/        streams with deadlines/limits
smtp/       commands
```
""")


class Layers(unittest.TestCase):
    def problems(self, path, text):
        return layers.check(path, text, ORDER)

    def test_the_drawing_is_read_from_top_to_bottom_with_neighbours_on_one_line(self):
        self.assertEqual(ORDER, {"relay": 4, "upstream": 3, "window": 3, "net": 2, "smtp": 1})

    def test_what_stands_below_and_the_own_module_may_be_included(self):
        text = '#include "mailonce/window/window.h"\n#include "mailonce/smtp/reply.h"\n#include "own.h"\n#include <vector>\n'
        self.assertEqual(self.problems("src/window/a.cpp", text), [])

    def test_neither_what_stands_above_nor_a_neighbour_may_be_included(self):
        for target in ("relay/relay.h", "upstream/upstream.h", "nowhere/x.h"):
            problems = self.problems("src/window/a.cpp", f'// first line\n#include "mailonce/{target}"\n')
            self.assertEqual(len(problems), 1, target)
            self.assertTrue(problems[0].startswith("src/window/a.cpp:2: "))

    def test_a_private_header_of_another_folder_is_out_of_reach(self):
        self.assertEqual(len(self.problems("src/window/a.cpp", '#include "../net/gather.h"\n')), 1)

    def test_pure_layers_know_no_asio(self):
        text = "#include <boost/asio/buffer.hpp>\n"
        self.assertEqual(len(self.problems("src/smtp/a.cpp", text)), 1)
        self.assertEqual(self.problems("src/net/a.cpp", text), [])

    def test_main_may_include_everything(self):
        self.assertEqual(self.problems("src/main.cpp", '#include "mailonce/relay/relay.h"\n'), [])

    def test_a_header_is_guarded_and_its_folder_drawn(self):
        self.assertEqual(len(self.problems("include/mailonce/net/a.h", "int x;\n")), 1)
        self.assertEqual(len(self.problems("include/mailonce/extra/a.h", "#pragma once\n")), 1)


if __name__ == "__main__":
    unittest.main()
