#!/usr/bin/env python3
"""The co_await lint accepts the forms the compiler gets right and finds the others."""
import unittest

import co_await

GOOD = [
    "co_await f();",
    "auto x = co_await f(a, b[1]);",
    "const auto [ec, n] = co_await socket.async_read_some(buffer(x), as_tuple(use_awaitable));",
    "Result<std::size_t> n = co_await stream_->read(buffer);",
    "x = co_await f();",
    "state.reply = co_await f();",
    "this->reply = co_await f();",
    "replies[i] = co_await f();",
    "co_return co_await f();",
    "if (a) co_await f();",
    "if (a && b) { x = co_await f(); } else { co_await g(); }",
    "else co_await f();",
    "for (int i = 0; i < n; ++i) co_await f(i);",
    "for (const auto& item : items) { co_await f(item); }",
    "while (more) x = co_await f();",
    "switch (a) { case A::b: co_await f(); break; default: co_await g(); }",
    "auto lambda = [x]() -> awaitable<void> { co_await f(x); }; spawn(lambda);",
    "spawn(executor, [x]() -> awaitable<void> { auto y = co_await f(x); use(y); });",
    "// if (co_await f()) is wrong\n co_await f();",
    'log("if (co_await f())"); co_await f();',
    "auto text = R\"(if (co_await f()))\"; constexpr int x = 1'000; co_await f(x);",
    "#define TRY(x) if (!co_await x)\nco_await f();",
]

BAD = [
    "if (co_await f()) {}",
    "if (auto x = co_await f(); x) {}",
    "while (co_await f()) {}",
    "switch (co_await f()) {}",
    "for (auto x : co_await f()) {}",
    "return g(co_await f());",
    "g(co_await f());",
    "x = a && co_await f();",
    "x = co_await f() && a;",
    "x = co_await f() || g();",
    "x = co_await f() == y;",
    "x = a ? co_await f() : b;",
    "x = !co_await f();",
    "auto x = (co_await f()).value();",
    "co_return g(co_await f());",
    "co_return !co_await f();",
    "x = y + co_await f();",
    "co_await f([x] { return x; });",
    "co_await f(Options{1, 2});",
    "co_await f({1, 2});",
    "auto x = co_await f(co_await g());",
    "auto x = co_await f(), y = co_await g();",
    "spawn([x] { if (co_await f(x)) {} });",
    "int y[] = {co_await f()};",
]


class CoAwait(unittest.TestCase):
    def test_whole_statements_are_accepted(self):
        for text in GOOD:
            self.assertEqual(co_await.check("a.cpp", "awaitable<int> g() {\n" + text + "\n}\n"), [], text)

    def test_anything_else_is_found_at_its_line(self):
        for text in BAD:
            problems = co_await.check("a.cpp", "awaitable<int> g() {\n\n" + text + "\n}\n")
            self.assertTrue(problems, text)
            self.assertTrue(problems[0].startswith("a.cpp:3: "), problems)


if __name__ == "__main__":
    unittest.main()
