import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"

const dist = join(import.meta.dirname, "../dist")

describe("the built panel", () => {
  it("starts with at most 150 kB of compressed scripts", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8")
    const scripts = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(
      ([, path = ""]) => path
    )
    const sizes = scripts.map((path) => readFileSync(join(dist, `${path}.br`)).length)
    expect(scripts.length).toBeGreaterThan(0)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000)
  })

  it("has no inline scripts or styles, which its content security policy would reject", () => {
    const page = readFileSync(join(dist, "index.html"), "utf8")
    expect(page).not.toMatch(/<style|style="|<script(?![^>]*\ssrc=)|\son\w+=/)
  })
})
