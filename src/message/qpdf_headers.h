// qpdf's headers, so that clang takes them too: JSON.hh of qpdf 11.3 destroys a vector of a class that is not complete
// yet, which clang 14 refuses in C++20, where that is constexpr. A list is never constexpr, and the class that holds it
// (JSON::JSON_array) is private to libqpdf and made nowhere else: no octet of the program changes.
#pragma once
#ifdef __clang__
#include <qpdf/InputSource.hh>
#include <qpdf/Pipeline.hh>
#include <qpdf/PointerHolder.hh>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>
#define vector list
#include <qpdf/JSON.hh>
#undef vector
#endif

#include <qpdf/Buffer.hh>
#include <qpdf/InputSource.hh>
#include <qpdf/Pipeline.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFStreamFilter.hh>
