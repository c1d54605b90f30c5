import { describe, expect, it, onTestFinished } from "vitest"
import { startAgent } from "./support/agent.ts"
import { missing, usePanel } from "./support/panel.ts"

describe.skipIf(missing !== undefined)("a worker", () => {
  const panel = usePanel()

  it("is made, shows its agent, and watches a process until it is gone", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    await page.goto(`${w}/monitors/process/new`)
    await page.getByText("There is none yet.").waitFor()
    await page.getByRole("link", { name: "Make one first" }).click()
    await page.getByRole("button", { name: "New worker" }).first().click()
    await page.getByLabel("Name").fill("Office")
    await page.getByLabel("Labels").fill("office")
    await page.getByRole("button", { name: "Create worker" }).click()
    const token = await page.getByRole("region", { name: "token", exact: true }).textContent()
    await page.getByRole("link", { name: "Office" }).click()
    await page.getByRole("button", { name: "Leave" }).click()
    await page.getByText("Waiting for its agent").waitFor()
    onTestFinished(startAgent(panel.url(), token ?? ""))
    await page.getByText("Online", { exact: true }).waitFor()

    await page.goto(`${w}/monitors`)
    await page.getByRole("link", { name: "Watch a process" }).first().click()
    await page.getByRole("combobox", { name: "Worker" }).selectOption({ index: 1 })
    await page.getByRole("radio", { name: "Its command line" }).check({ force: true })
    await page.getByLabel("Part of the command line").fill("server/src/main.ts")
    await page.getByLabel("Name", { exact: true }).fill("Server")
    await page.getByRole("button", { name: "Create monitor" }).click()
    await page.getByText("No worker has reported yet").waitFor()
    await page.getByText("Latest report").waitFor()
    await page.getByRole("table", { name: "Events" }).getByText("Up").waitFor()

    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByRole("radio", { name: "On all with labels" }).check({ force: true })
    await page.getByRole("textbox", { name: "Labels" }).fill("office")
    await page.getByLabel("Apply the rules").selectOption("For all workers together")
    await page.getByLabel("Minimum number of processes").fill("5000")
    await page.getByLabel("Grace", { exact: true }).fill("0")
    await page.getByLabel("Check every", { exact: true }).fill("10")
    await page.getByLabel("Check every: unit").selectOption("seconds")
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByText("All together with office").waitFor()
    await page.getByText("at least 5000").waitFor()
    await page
      .getByRole("table", { name: "Events" })
      .getByText("Down", { exact: true })
      .waitFor({ timeout: 60_000 })
    await page.getByRole("button", { name: "Actions for Server" }).click()
    await page.getByRole("menuitem", { name: "Delete" }).click()
    await page.getByRole("button", { name: "Delete", exact: true }).click()
    await page.getByText("No monitors yet").waitFor()
    expect(problems).toEqual([])
  })
})
