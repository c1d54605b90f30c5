import type { CheckResult } from "@scheduling/domain/monitors/checks/Check"
import type { DownWhen } from "@scheduling/domain/monitors/checks/Place"

/** The result of a check from a place. A place that is `unknown` has no result. */
export interface PlaceCheckResult {
  readonly labels: ReadonlyArray<string>
  readonly result: CheckResult
}

/**
 * Combines the results of all places into one. Its measurements come from one of the places that
 * decided the result: the first failed place, or the place with the median duration. Undefined if
 * no place is known.
 */
export const combinePlaceResults = (
  downWhen: DownWhen,
  known: ReadonlyArray<PlaceCheckResult>
): CheckResult | undefined => {
  const failed = known.filter(({ result }) => result.error !== null)
  const succeeded = known.filter(({ result }) => result.error === null)
  const isDown = {
    any: failed.length > 0,
    majority: failed.length * 2 > known.length,
    all: succeeded.length === 0
  }
  const [first] = failed
  if (first !== undefined && isDown[downWhen]) return failureOf(first, failed.length, known.length)
  const sorted = succeeded.toSorted((a, b) => durationOf(a) - durationOf(b))
  return sorted[Math.floor(sorted.length / 2)]?.result
}

const durationOf = ({ result }: PlaceCheckResult): number => result.duration_ms ?? 0

const failureOf = (
  { labels, result }: PlaceCheckResult,
  failed: number,
  known: number
): CheckResult | undefined =>
  result.error === null || known === 1
    ? result
    : {
        ...result,
        error: {
          ...result.error,
          message: `Failed at ${failed} of ${known} places. At ${labels.join(", ")}: ${result.error.message}`
        }
      }
