import { assert, describe, it } from "@effect/vitest"
import { CronTask } from "../../src/cron/CronTask.ts"
import { CronTaskId, idInPath } from "../../src/shared/Ids.ts"
import { Option, Schema } from "effect"

const id = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
const take = Schema.decodeUnknownOption(idInPath(CronTaskId))

describe("An id", () => {
  it("is one in lower case, in whatever case it is asked for", () => {
    for (const spelling of [
      id,
      id.toUpperCase(),
      `${id.slice(0, 20).toUpperCase()}${id.slice(20)}`
    ]) {
      assert.deepStrictEqual(take(spelling), take(id))
    }
    assert.deepStrictEqual(take(id), Schema.decodeUnknownOption(CronTaskId)(id))
  })

  it("is no other text", () => {
    for (const text of ["", ` ${id}`, `${id}\n`, `{${id}}`, id.replaceAll("-", ""), `${id}0`]) {
      assert.isTrue(Option.isNone(take(text)), text)
    }
  })

  it("costs nothing to encode in a record", () => {
    assert.isUndefined(CronTask.fields.id.ast.encoding)
  })
})
