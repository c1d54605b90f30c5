import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("an unknown address", () => {
  const panel = usePanel()

  it("shows one page with links to the workspaces of the user", async () => {
    const { page, person, problems } = await panel.openAs()
    const gone = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
    for (const path of [
      "/w/zzz",
      `/w/${gone}/cron`,
      "/w",
      "/account",
      "/settings",
      "/login",
      "/does/not/exist",
      `/w/${person.workspaceId}/nothing`
    ]) {
      await page.goto(panel.url() + path)
      await page.getByText("This page does not exist").waitFor()
      expect(await page.getByRole("alert").count()).toBe(0)
      const link = page.getByRole("link", { name: "Acme production" })
      expect(await link.getAttribute("href")).toBe(`/w/${person.workspaceId}`)
    }
    await page.getByRole("link", { name: "Acme production" }).click()
    await page.getByRole("heading", { name: "Overview" }).waitFor()
    expect(problems).toEqual([])
  })

  it("causes no further requests", async () => {
    const { page } = await panel.openAs()
    const refused: Array<string> = []
    page.on("response", (answer) => {
      if (answer.status() === 404) refused.push(answer.url())
    })
    await page.goto(`${panel.url()}/w/zzz`)
    await page.getByText("This page does not exist").waitFor()
    await page.getByRole("link", { name: "Acme production" }).waitFor()
    expect(refused.length).toBeLessThan(2)
  })

  it("of a deleted record leads back to its list", async () => {
    const { page, person } = await panel.openAs()
    const gone = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/${gone}/edit`)
    await page.getByRole("alert").waitFor()
    await page.getByRole("main").getByRole("link", { name: "Cron tasks" }).click()
    await page.getByText("No cron tasks yet").waitFor()
  })
})
