import type { Callbacks } from "@scheduling/domain/calls/Callbacks"
import { mergedOptions } from "./mergedOptions.ts"

/** The column that says who is told that a run has ended. Settling reads it. */
export interface EndingOptionsRow {
  readonly ending_options: Callbacks | null
}

type EndingChanges = { readonly [Name in keyof Callbacks]: Callbacks[Name] | null }

const noOptions: EndingOptionsRow = { ending_options: null }

/** The fields of a request, with the call-backs of its task as they are kept. */
export const withEndingOptions = <Changes extends EndingChanges>(
  changes: Changes,
  { ending_options }: EndingOptionsRow = noOptions
): Omit<Changes, keyof Callbacks> & EndingOptionsRow => {
  const { on_failure, on_success, ...others } = changes
  return {
    ...others,
    ending_options: mergedOptions<Callbacks>(ending_options, { on_failure, on_success })
  }
}

/** The URLs of a request's call-backs, as they are checked. */
export const callbackTargets = ({ on_failure, on_success }: EndingChanges) => [
  ...(on_failure == null ? [] : [{ path: ["on_failure", "url"], url: on_failure.url }]),
  ...(on_success == null ? [] : [{ path: ["on_success", "url"], url: on_success.url }])
]
