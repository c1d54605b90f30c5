import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

/** The assignment that every injected script would run. */
const mark = "globalThis.__ran=1"

const texts = [
  `<script>${mark}</script>`,
  `<img src=x onerror="${mark}">`,
  `<svg onload="${mark}"><a href="javascript:${mark}">x</a></svg>`,
  `"><iframe srcdoc="<script>parent.${mark}</script>">`,
  `javascript:${mark}`,
  `{{constructor.constructor('${mark}')()}}`,
  "‮evil \u0007 \u{1F4A9} ".padEnd(180, "a")
]

describe.skipIf(skipReason !== undefined)("text from others", () => {
  const panel = usePanel()

  it("is shown as text and never runs", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const at = `${panel.url()}/w/${workspaceId}`
    const url = `${panel.url()}/v1/echo`
    for (const text of texts) {
      const name = text.replaceAll("\u0007", "")
      const written = text.replaceAll("{{", "{{ '{{' }}")
      const { id } = await client.cron.create({
        name,
        url: `${url}?q=${encodeURIComponent(text)}`,
        schedule: "0 3 * * *",
        headers: { "x-note": written.replaceAll(/[^\x20-\x7e]/g, "") },
        body: written
      })
      const { id: executionId } = await client.cron.runAndWait(id)
      for (const path of [`/cron/${id}`, `/executions/${executionId}`]) {
        await page.goto(at + path)
        await page
          .getByRole("heading", { level: 1 })
          .filter({ hasText: name.slice(0, 12) })
          .waitFor()
      }
    }
    for (const path of ["", "/cron", "/executions"]) {
      await page.goto(at + path)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await page
        .getByText(texts[0] ?? "")
        .first()
        .waitFor()
    }
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Search" }).fill("script")
    await page
      .getByRole("option", { name: /script/ })
      .first()
      .waitFor()
    const links = await page
      .locator("a[href]")
      .evaluateAll((all) => all.map((link) => new URL((link as HTMLAnchorElement).href).protocol))
    expect(new Set(links)).toEqual(new Set(["http:"]))
    expect(await page.evaluate(() => "__ran" in globalThis)).toBe(false)
    expect(problems).toEqual([])
  })

  it("in an address leads to no other site", async () => {
    const { page, person } = await panel.openAs()
    for (const path of [
      `/w/${person.workspaceId}/cron?name=${encodeURIComponent(texts[1] ?? "")}&status=nonsense`,
      `/w/${person.workspaceId}/executions?from=nonsense&task_id=<script>`,
      "/w/not-a-workspace/cron",
      `/w/${person.workspaceId}/cron/not-a-task`
    ]) {
      await page.goto(panel.url() + path)
      await page.getByRole("heading", { level: 1 }).waitFor()
      expect(await page.evaluate(() => "__ran" in globalThis)).toBe(false)
    }
    await page
      .getByText("No task with this id in this workspace.")
      .or(page.getByRole("alert"))
      .first()
      .waitFor()
  })
})
