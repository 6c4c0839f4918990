"""Two programs of one job that were built differently both report it and end."""
import argparse
import sys

from jobs import crude_faults, errors_in, run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("version", help="built with another version of the library")
    parser.add_argument("type", help="with another type of message")
    parser.add_argument("layout", help="with a message of the same name whose fields are swapped")
    parser.add_argument("meaning", help="with another version of the message")
    parser.add_argument("same")
    options = parser.parse_args()

    failed = False
    refusals = (
        (options.version, "it was built with version"),
        (options.type, "the message's type is not the same at the inlet and at the outlet"),
        (options.layout, "the message's type is not the same at the inlet and at the outlet"),
        (options.meaning, "the message's type is not the same at the inlet and at the outlet"),
        (options.same, ""),
    )
    for other, words in refusals:
        for programs in (([other], [options.same]), ([options.same], [other])):
            outcome = run(options.mpiexec, {}, *programs)
            said = errors_in(outcome)
            faults = list(crude_faults(outcome))
            if words and (outcome.code in (0, None) or len(said) != 2 or not all(words in line for line in said)):
                faults.append(f"not refused by both with '{words}'")
            if not words and (outcome.code != 0 or said):
                faults.append("refused")
            print(f"{'FAILED' if faults else 'ok'}: code {outcome.code}, {outcome.seconds:.1f} s, {said} {faults}")
            if faults:
                failed = True
                print(outcome.out, outcome.err)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
