import { describe, expect, it } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"

describe.skipIf(skipReason !== undefined)("a pasted text", () => {
  const panel = usePanel()

  it("replaces an earlier paste, and may be unreadable", async () => {
    const { page, person, problems } = await panel.openAs()
    await page.goto(`${panel.url()}/w/${person.workspaceId}/cron/new`)
    await page.getByText("Paste a curl command").click()
    const box = page.getByLabel("Command or crontab line")
    await box.fill("curl -fsSk -u 'zoë:пароль' https://old.example --retry 3")
    await page.getByText("Filled in: GET, URL, 1 header. Ignored: -k, --retry.").waitFor()
    expect(await page.getByLabel("URL", { exact: true }).inputValue()).toBe("https://old.example")
    await box.fill("0 3 * * 1 /usr/local/bin/backup.sh")
    await page.getByText("Filled in: schedule. Ignored: /usr/local/bin/backup.sh.").waitFor()
    expect(await page.getByLabel("URL", { exact: true }).inputValue()).toBe("")
    expect(await page.getByRole("textbox", { name: "Schedule" }).inputValue()).toBe("0 3 * * 1")
    await box.fill("hello")
    await page.getByText("This is not a curl command").waitFor()
    expect(problems).toEqual([])
  })

  it("fills in only the call in a form without a schedule and in steps", async () => {
    const { page, person, problems } = await panel.openAs()
    const w = `${panel.url()}/w/${person.workspaceId}`
    for (const path of ["delayed/new", "chains/new"]) {
      await page.goto(`${w}/${path}`)
      await page.getByText("Paste a curl command").click()
      await page
        .getByLabel("Command", { exact: true })
        .fill(`0 3 * * * curl -sX PUT ${panel.url()}/v1/echo`)
      await page.getByText("Filled in: PUT, URL. Ignored: the schedule.").waitFor()
      expect(await page.getByLabel("Method").inputValue()).toBe("PUT")
    }
    await page.getByLabel("Name", { exact: true }).first().fill("Pasted")
    await page.getByRole("button", { name: "Create chain" }).click()
    await page.getByRole("heading", { name: "Pasted" }).waitFor()
    const [chain] = await person.client.chains.list().toArray({ limit: 1 })
    expect(chain).toMatchObject({ steps: [{ method: "PUT" }] })
    expect(problems).toEqual([])
  })
})
