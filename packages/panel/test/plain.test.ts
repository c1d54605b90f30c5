import { describe, expect, it } from "vitest"
import { plain } from "../src/ui/values/plain.ts"

describe("a name in a sentence", () => {
  it("has no marks that turn the words after it round, and keeps its letters", () => {
    expect(plain("in\u202evoice\u2066s")).toBe("invoices")
    expect(plain("שלום")).toBe("שלום")
  })
})
