import { assert, describe, it } from "@effect/vitest"
import { Cursor } from "@scheduling/domain/shared/requests/Page"
import { Schema } from "effect"
import { pageRequest, toPage } from "../../../src/store/Page.ts"

const Uuid = Schema.String.check(Schema.isUUID())
const isCursor = Schema.is(Cursor)

describe("pageRequest and toPage", () => {
  it.prop("continue after the last row of a page", [Uuid, Schema.Array(Uuid)], ([id, ids]) => {
    const rows = [id, ...ids].map((each) => ({ id: each.toLowerCase() }))
    const request = pageRequest({ limit: rows.length })
    const whole = toPage(rows, request, (row) => row.id)
    assert.deepStrictEqual(whole, { data: rows.map((row) => row.id), next_cursor: null })
    const page = toPage([...rows, { id: "beyond" }], request, (row) => row.id)
    assert.deepStrictEqual(page.data, whole.data)
    assert.isTrue(isCursor(page.next_cursor))
    const next = pageRequest({ limit: 1, cursor: page.next_cursor ?? "" })
    assert.strictEqual(next.before, rows.at(-1)?.id)
  })

  it.prop("accept any well-formed cursor", [Cursor], ([cursor]) => {
    assert.match(pageRequest({ cursor }).before, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it("start before all ids, with twenty rows", () => {
    assert.deepStrictEqual(pageRequest({}), {
      limit: 20,
      before: "ffffffff-ffff-ffff-ffff-ffffffffffff"
    })
  })
})
