import { describe, expect, it } from "vitest"
import { stripDirectionMarks } from "../src/ui/values/stripDirectionMarks.ts"

describe("a name in a sentence", () => {
  it("has no marks that change the direction of the words after it, and keeps its letters", () => {
    expect(stripDirectionMarks("in\u202evoice\u2066s")).toBe("invoices")
    expect(stripDirectionMarks("שלום")).toBe("שלום")
  })
})
