import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { guards } from "./guards.ts"

describe("each guard that is taken away on purpose", () => {
  it.each(guards)(
    "is at the location that its proof names: $name",
    ({ breaking, file, shownBy }) => {
      const intact = readFileSync(file, "utf8")
      assert.notStrictEqual(breaking(intact), intact)
      assert.isTrue(existsSync(shownBy), shownBy)
    }
  )
})
