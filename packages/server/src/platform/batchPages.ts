import { Effect, Exit, Request, RequestResolver } from "effect"
import type { PageRequest } from "./Pages.ts"

/** A page of what a workspace has. */
export interface AskedPage {
  readonly workspaceId: string
  readonly page: PageRequest
}

/**
 * Reads the pages that requests of one moment ask for with one statement, and a page that several ask
 * for only once. What a statement costs by itself, here and in PostgreSQL, is shared. Of each row
 * `readAll` says with `n` whose page it is in.
 */
export const batchPages = <Asked extends AskedPage, Row extends { readonly n: number }>(
  readAll: (asked: ReadonlyArray<Asked>) => Effect.Effect<ReadonlyArray<Row>>,
  { maxBatch }: { readonly maxBatch: number }
): ((asked: Asked) => Effect.Effect<ReadonlyArray<Row>>) => {
  interface ReadPage extends Request.Request<ReadonlyArray<Row>> {
    readonly asked: Asked
    readonly key: string
  }
  const ReadPage = Request.of<ReadPage>()
  const resolver = RequestResolver.make<ReadPage>(
    Effect.fnUntraced(function* (entries) {
      const asked = new Map(entries.map(({ request }) => [request.key, request.asked]))
      const numbers = new Map([...asked.keys()].map((key, n) => [key, n]))
      const pages = Map.groupBy(yield* readAll([...asked.values()]), ({ n }) => n)
      for (const entry of entries) {
        const rows = pages.get(numbers.get(entry.request.key) ?? -1)
        entry.completeUnsafe(Exit.succeed(rows ?? []))
      }
    })
  ).pipe(RequestResolver.batchN(maxBatch))
  return (asked) => Effect.request(ReadPage({ asked, key: keyOf(asked) }), resolver)
}

// ---------------------------------------------------------------------------

const keyOf = ({ page, workspaceId }: AskedPage) => `${workspaceId} ${page.before} ${page.limit}`
