import type axe from "axe-core"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { pagesOf, openPanelPage } from "./support/pages.ts"
import { createUser } from "./support/users.ts"
import { seed } from "./support/seed.ts"

const script = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

describe.skipIf(skipReason !== undefined)("every page", () => {
  const panel = usePanel()

  it("passes axe in light and dark", { timeout: 1_200_000 }, async () => {
    const person = await createUser(panel.url())
    await seed(person.client, panel.url())
    // The page's content security policy would block axe's script.
    const strangers = await panel.open({ bypassCSP: true })
    const members = await panel.openAs(person, { bypassCSP: true })
    const found: Array<string> = []
    for (const one of await pagesOf(person)) {
      const { page } = one.isPublic ? strangers : members
      // During a transition, the contrast would be measured for an in-between colour.
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" })
      await openPanelPage(page, panel.url(), one)
      await page.addStyleTag({
        content: "* { transition: none !important; animation: none !important }"
      })
      await page.evaluate(script)
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
        const { violations } = await page.evaluate(
          (rules) =>
            (globalThis as unknown as { readonly axe: typeof axe }).axe.run(
              rules === undefined
                ? // Rules of WCAG 2.2 that axe disables by default.
                  { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }
                : { resultTypes: ["violations"], runOnly: { type: "rule", values: rules } }
            ),
          // All other rules give the same result in both colour schemes.
          colorScheme === "light" ? undefined : ["color-contrast"]
        )
        for (const { help, nodes } of violations) {
          const where = nodes.map(({ html }) => html.slice(0, 200)).join(" | ")
          found.push(`${one.name}, ${colorScheme}: ${help}: ${where}`)
        }
      }
      await one.after?.(page)
    }
    expect(found).toEqual([])
    expect([...strangers.problems, ...members.problems]).toEqual([])
  })
})
