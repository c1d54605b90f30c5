import { describe, expect, it } from "vitest"
import { stripDirectionMarks } from "../src/ui/values/stripDirectionMarks.ts"

describe("a name in a sentence", () => {
  it("has no marks that turn the words after it round, and keeps its letters", () => {
    expect(stripDirectionMarks("in\u202evoice\u2066s")).toBe("invoices")
    expect(stripDirectionMarks("שלום")).toBe("שלום")
  })
})
