import { Effect } from "effect"
import { batched } from "./batched.ts"
import type { PageRequest } from "./Pages.ts"

/** A page of what a workspace has. */
export interface AskedPage {
  readonly workspaceId: string
  readonly page: PageRequest
}

/**
 * Reads the pages that requests of one moment ask for with one statement, and a page that several ask
 * for only once. Of each row `readAll` says with `n` whose page it is in.
 */
export const batchPages = <Asked extends AskedPage, Row extends { readonly n: number }>(
  readAll: (asked: ReadonlyArray<Asked>) => Effect.Effect<ReadonlyArray<Row>>,
  options: { readonly maxBatch: number }
): Effect.Effect<(asked: Asked) => Effect.Effect<ReadonlyArray<Row>>> =>
  batched((asked) => {
    const keys = asked.map(keyOf)
    const byKey = new Map(asked.map((page, index) => [keys[index], page]))
    const numbers = new Map([...byKey.keys()].map((key, n) => [key, n]))
    return Effect.map(readAll([...byKey.values()]), (rows) => {
      const pages = Map.groupBy(rows, ({ n }) => n)
      return keys.map((key) => pages.get(numbers.get(key) ?? -1) ?? [])
    })
  }, options)

// ---------------------------------------------------------------------------

const keyOf = ({ page, workspaceId }: AskedPage) => `${workspaceId} ${page.before} ${page.limit}`
