#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/duct_laws.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit::testing;

using Subjects = std::tuple<ExchangeSubject<every, ToSelf>, ExchangeSubject<every, ToOther>,
                            ExchangeSubject<latest, ToSelf>, ExchangeSubject<latest, ToOther>,
                            ExchangeSubject<every_pooled, ToSelf>, ExchangeSubject<every_pooled, ToOther>,
                            ExchangeSubject<latest_pooled, ToSelf>, ExchangeSubject<latest_pooled, ToOther>,
                            ExchangeSubject<accumulate, ToSelf>, ExchangeSubject<accumulate, ToOther>,
                            ExchangeSubject<accumulate_pooled, ToSelf>, ExchangeSubject<accumulate_pooled, ToOther>>;

TEMPLATE_LIST_TEST_CASE("Conduits over exchanges keep the laws of ducts", "", Subjects) { CheckLaws<TestType>(); }
