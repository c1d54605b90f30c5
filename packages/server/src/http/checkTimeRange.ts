import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { Effect } from "effect"

/**
 * Rejects a query in which `from` is after `to`. An empty page would look as if nothing had
 * happened.
 */
export const checkTimeRange = ({ from, to }: { readonly from?: string; readonly to?: string }) =>
  from === undefined || to === undefined || Date.parse(from) <= Date.parse(to)
    ? Effect.void
    : Effect.fail(ValidationFailed.at(["from"], "out_of_range", "must not be after to"))
