import { describe, expect, it } from "vitest"
import { missing, usePanel } from "./support/panel.ts"

describe.skipIf(missing !== undefined)("a queue", () => {
  const panel = usePanel()

  it("is created, used by a task, resumed, changed and deleted", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/queues`)
    await page.getByRole("button", { name: "New queue" }).first().click()
    await page.getByLabel("Name").fill("Billing")
    await page.getByLabel("Maximum starts per second").fill("0.5")
    await page.getByRole("button", { name: "Create queue" }).click()
    await page.getByText("2 concurrent, one every 2 s").waitFor()
    const menu = page.getByRole("button", { name: "Actions for Billing" })
    await menu.click()
    await page.getByRole("menuitem", { name: "Pause" }).click()
    await page.getByText("Paused", { exact: true }).waitFor()

    await page.goto(`${w}/delayed/new`)
    await page.getByLabel("Name", { exact: true }).fill("Invoice")
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Delay", { exact: true }).fill("0")
    await page.getByLabel("Queue", { exact: true }).selectOption({ index: 1 })
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByRole("heading", { name: "Invoice" }).waitFor()
    await page.getByRole("definition").getByText("Queued").waitFor()
    await page.goto(`${w}/delayed`)
    await page.getByRole("row", { name: /Invoice.*Queued/ }).waitFor()
    await page.getByRole("link", { name: "Invoice" }).click()
    await page.getByRole("link", { name: "Billing" }).click()
    await page.getByText("Billing", { exact: true }).waitFor()
    const { data } = await person.client.queues.list({ limit: 1 })
    expect(data[0]?.waiting).toBe(1)

    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("Tasks or chains use this queue").first().waitFor()
    await page.keyboard.press("Escape")

    await menu.click()
    await page.getByRole("menuitem", { name: "Resume" }).click()
    await page.getByText("Billing was resumed").waitFor()
    await menu.click()
    await page.getByRole("menuitem", { name: "Edit" }).click()
    await page.getByLabel("Maximum starts per second").fill("")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("2 concurrent", { exact: true }).waitFor()

    const task = await person.client.delayed.list({ limit: 1 })
    await expect
      .poll(async () => (await person.client.delayed.get(task.data[0]!.id)).status)
      .toBe("finished")
    await menu.click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("No queues yet").waitFor()
    expect(problems).toEqual([])
  })
})
