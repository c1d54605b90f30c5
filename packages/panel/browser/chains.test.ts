import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("the editor of a chain", () => {
  const panel = usePanel()

  it("folds its steps, shows the graph and completes references from the last answers", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.setViewportSize({ width: 1440, height: 900 })
    const url = `${panel.url()}/v1/echo`
    const chain = await person.client.chains.create({
      name: "Export",
      steps: [
        { name: "login", url, body: '{"user":"ada"}' },
        { name: "upload", url, run_if: "always" }
      ]
    })
    await person.client.chains.runAndWait(chain.id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/${chain.id}/edit`)
    const bodies = page.getByLabel("Body", { exact: true })
    await page.getByText(`POST ${url}, always`).filter({ visible: true }).waitFor()
    expect(await bodies.filter({ visible: true }).count()).toBe(0)
    const graph = page.getByRole("group", { name: "Graph" })
    await graph.getByRole("button", { name: "upload" }).click()
    const body = bodies.filter({ visible: true })
    await body.pressSequentially("{{ body.met")
    const suggested = page.getByRole("listbox", { name: "Values" }).getByRole("option")
    await suggested.getByText("steps.login.body.method").waitFor()
    expect(await suggested.count()).toBe(1)
    await page.keyboard.press("Enter")
    await expect.poll(() => body.inputValue()).toBe("{{ steps.login.body.method }}")
    await page.getByText("only a run of the chain can make it").filter({ visible: true }).waitFor()
    await page.keyboard.press("Control+Enter")
    await page.getByRole("heading", { name: "Export", exact: true }).waitFor()
    const { steps } = await person.client.chains.get(chain.id)
    expect(steps[1]).toMatchObject({ body: "{{ steps.login.body.method }}" })
    expect(problems).toEqual([])
  })

  it("shows the failed step of the last run when its page opens", async () => {
    const { page, person, problems } = await panel.openAs()
    const chain = await person.client.chains.create({
      name: "Export",
      steps: [
        { name: "login", url: `${panel.url()}/v1/echo` },
        { name: "upload", url: `${panel.url()}/nowhere`, retry_count: 0 }
      ]
    })
    await person.client.chains.runAndWait(chain.id)
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/${chain.id}`)
    const shown = page.getByRole("link", { name: "Open execution" }).filter({ visible: true })
    await page.getByText("responded with 404").filter({ visible: true }).first().waitFor()
    // Fails if there are several.
    await shown.waitFor()
    await page.getByText("Failing", { exact: true }).waitFor()
    await page.getByRole("link", { name: "Show the incident" }).waitFor()
    expect(problems).toEqual([])
  })

  it("runs one step, and opens a folded step that the browser rejects", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/chains/new`)
    await page.getByLabel("Name", { exact: true }).first().fill("Export")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Run this step when").waitFor()
    await page.getByRole("heading", { name: "Dependencies" }).waitFor()
    await page
      .getByRole("group", { name: "Test this step" })
      .getByRole("button", { name: "Make the call now" })
      .click()
    await page.getByRole("status", { name: "Response" }).getByText("Succeeded").waitFor()
    await page.getByRole("button", { name: "Add a step" }).click()
    await page.getByText("Step 2").click()
    const second = page.getByLabel("URL", { exact: true }).nth(1)
    await second.waitFor({ state: "hidden" })
    await page.getByRole("button", { name: "Create chain" }).click()
    await second.waitFor()
    expect(problems).toEqual([])
  })
})
