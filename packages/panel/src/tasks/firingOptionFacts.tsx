import type { ReactNode } from "react"
import { duration } from "../ui/format.ts"
import { At } from "../ui/Time.tsx"
import type { FiringOptions } from "./firingOptionValues.ts"

/** Those options of a schedule that are set. */
export const firingOptionFacts = (
  options: FiringOptions
): ReadonlyArray<readonly [name: string, value: ReactNode]> => {
  const { disable_after_failures, ends_at, excluded_days, jitter_seconds, on_pause, starts_at } =
    options
  const facts: ReadonlyArray<readonly [string, ReactNode]> = [
    ["Starts", starts_at && <At key="starts" at={starts_at} />],
    ["Ends", ends_at && <At key="ends" at={ends_at} />],
    ["Days without runs", excluded_days?.join(", ")],
    ["Jitter", jitter_seconds && `up to ${duration(jitter_seconds * 1_000)}`],
    ["When paused", on_pause === "finish" ? "What runs may finish" : undefined],
    ["Pauses itself", disable_after_failures && `after ${disable_after_failures} failures in a row`]
  ]
  return facts.filter(([, value]) => value !== undefined)
}
