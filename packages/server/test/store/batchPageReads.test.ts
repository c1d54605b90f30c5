import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { authorize } from "../../src/accounts/access/authorize.ts"
import { batchPageReads } from "../../src/store/batchPageReads.ts"

const pageOf = (workspaceId: string) => ({
  workspaceId: authorize(workspaceId),
  page: { before: "z", limit: 2 }
})

describe("batchPageReads", () => {
  it.effect(
    "gives each request the rows of its page, newest first, in whatever order they arrive",
    () =>
      Effect.gen(function* () {
        let statements = 0
        const list = yield* batchPageReads((asked) =>
          Effect.sync(() => {
            statements++
            return ["b", "c", "a"].flatMap((id) =>
              asked.map(({ workspaceId }, n) => ({ id: `${workspaceId}${id}`, n }))
            )
          })
        )
        const asked = ["x", "y", "x"].map(pageOf)
        const pages = yield* Effect.forEach(asked, list, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          pages.map((page) => page.map(({ id }) => id)),
          [
            ["xc", "xb", "xa"],
            ["yc", "yb", "ya"],
            ["xc", "xb", "xa"]
          ]
        )
        assert.strictEqual(statements, 1)
      })
  )
})
