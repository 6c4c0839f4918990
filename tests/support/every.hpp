#pragma once

#include <cstdint>
#include <memory>

#include <netuit/run/schedule.hpp>
#include <uit/support/clock.hpp>

namespace netuit::testing {

/// A schedule that the library does not have, as a user would write it: all workers meet after every `k` updates.
///
///     mesh.Run(Every{.k = 3, .updates = 10}, update);
struct Every {
  std::uint64_t k = 2;        ///< updates between barriers; at least 1
  std::uint64_t updates = 0;  ///< of each worker; 0: no limit

  /// Returns the plan for the run loop.
  RunPlan MakePlan() const {
    class Meeting final : public Schedule {
     public:
      explicit Meeting(std::uint64_t number) : k_(number) {}
      Step Next(const Moment& moment) override {
        const bool is_due = moment.num_updates - num_met_ >= k_;
        return is_due || moment.has_made_all || moment.is_to_stop ? Step::meet : Step::update;
      }
      void Met(uit::TimePoint, std::uint64_t) override { num_met_ += k_; }

     private:
      std::uint64_t k_;
      std::uint64_t num_met_ = 0;
    };
    return {.mode = 100, .updates = updates, .make = [number = k] { return std::make_unique<Meeting>(number); }};
  }
};

}  // namespace netuit::testing
