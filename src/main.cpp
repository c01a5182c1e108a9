#include <iostream>

#include "mailonce/cli/run.h"

int main(int argc, char** argv) {
  return mailonce::cli::run({argv + 1, argv + argc}, std::cin, std::cout, std::cerr);
}
