#define BOOST_TEST_MODULE actor
#include <boost/test/unit_test.hpp>
