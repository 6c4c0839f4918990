#include <tuple>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/duct_laws.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit::testing;

template <template <typename> typename Each>
using Everywhere = decltype(std::tuple_cat(std::declval<typename Each<ToSelf>::Members>(),
                                           std::declval<typename Each<ToOther>::Members>(),
                                           std::declval<typename Each<ToNear>::Members>()));

template <typename Where>
struct Exchanges {
  using Members = std::tuple<ExchangeSubject<every, Where>, ExchangeSubject<latest, Where>,
                             ExchangeSubject<every_pooled, Where>, ExchangeSubject<latest_pooled, Where>,
                             ExchangeSubject<accumulate, Where>, ExchangeSubject<accumulate_pooled, Where>,
                             ExchangeSubject<every_aggregated, Where>, ExchangeSubject<latest_aggregated, Where>,
                             RowSubject<every, Where>, RowSubject<latest, Where>, RowSubject<every_aggregated, Where>,
                             RowSubject<latest_aggregated, Where>>;
};

TEMPLATE_LIST_TEST_CASE("Conduits over exchanges keep the laws of ducts", "", Everywhere<Exchanges>) { CheckLaws<TestType>(); }
