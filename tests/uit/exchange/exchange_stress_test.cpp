#include <cstddef>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/duct_stress.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit::testing;

using Subjects = std::tuple<ExchangeSubject<every, ToOther>, ExchangeSubject<latest, ToOther>,
                            ExchangeSubject<every_pooled, ToOther>, ExchangeSubject<latest_pooled, ToOther>,
                            ExchangeSubject<accumulate, ToOther>, ExchangeSubject<accumulate_pooled, ToOther>,
                            ExchangeSubject<every_aggregated, ToOther>, ExchangeSubject<latest_aggregated, ToOther>,
                            RowSubject<every, ToOther>, RowSubject<latest_aggregated, ToOther>,
                            ExchangeSubject<every, ToNear>, ExchangeSubject<latest, ToNear>,
                            ExchangeSubject<every_aggregated, ToNear>>;

TEMPLATE_LIST_TEST_CASE("Two processes exchange records whole and in order under every interleaving", "", Subjects) {
  for (const std::size_t depth : {1U, 16U}) CheckStress<TestType>(depth, 20'000);
}
