#define BOOST_TEST_MODULE e2e
#include <boost/test/unit_test.hpp>
