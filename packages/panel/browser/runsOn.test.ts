import type { Page } from "playwright-core"
import { describe, expect, it, onTestFinished } from "vitest"
import { skipReason, usePanel } from "./support/panel.ts"
import { password, type PanelUser } from "./support/users.ts"
import { startShell, runShell, runTypeScript } from "./support/shell.ts"

describe.skipIf(skipReason !== undefined)("tasks that run on workers", () => {
  const panel = usePanel()

  const shown = async (page: Page, label: string, tab: string) => {
    const group = page.getByRole("tablist", { name: label })
    if ((await group.count()) > 0) await group.getByRole("tab", { name: tab }).click()
    return (await page.getByRole("region", { name: `${label}: ${tab}` }).textContent()) ?? ""
  }

  const accessTokenOf = async ({ email }: PanelUser): Promise<string> => {
    const answer = await fetch(`${panel.url()}/v1/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password })
    })
    return (await answer.json()).access_token
  }

  const keyOf = async ({ client }: PanelUser) => {
    const { key } = await client.apiKeys.create({ name: "Examples", scopes: ["tasks:write"] })
    return key
  }

  it("are created by the examples on the pages of workers", async () => {
    const { page, person, problems } = await panel.openAs()
    const workers = `${panel.url()}/w/${person.workspaceId}/workers`
    await page.goto(workers)
    const answer = await runShell(await shown(page, "Create a worker", "curl"), {
      ACCESS_TOKEN: await accessTokenOf(person)
    })
    const { id, token } = JSON.parse(answer)
    await page.goto(`${workers}/${id}`)
    await page.getByText("Waiting for the agent").waitFor()
    const begin = await shown(page, "Start the agent", "Clone")
    onTestFinished(startShell(begin.replace("pwk_…", token)))
    await page.getByText("Online", { exact: true }).waitFor({ timeout: 60_000 })

    const environment = { API_KEY: await keyOf(person) }
    const label = "Run a task on this worker"
    await runShell(await shown(page, label, "curl"), environment)
    await runTypeScript(await shown(page, label, "TypeScript"), environment)
    const tasks = await person.client.cron.list().toArray({ limit: 5 })
    expect(tasks.map(({ run_on }) => run_on)).toEqual([
      { labels: ["office"] },
      { labels: ["office"] }
    ])
    expect(problems).toEqual([])
  })

  it("are created in the form, and keep their workers in copies and edits", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    await client.workers.create({ name: "Office, rack 2", labels: ["office", "gpu"] })
    const w = `${panel.url()}/w/${workspaceId}`
    await page.goto(`${w}/cron/new`)
    await page.getByLabel("Name", { exact: true }).fill("Close the tills")
    await page.getByLabel("URL", { exact: true }).fill("http://10.1.2.3/close")
    await page.getByRole("textbox", { name: "Schedule" }).fill("0 22 * * *")
    const create = page.getByRole("button", { name: "Create cron task" })
    await create.click()
    await page.getByRole("alert").first().waitFor()
    await page.getByLabel("Runs on").selectOption("workers")
    await page.getByText("Labels in use: gpu, office.").waitFor()
    await page.getByLabel("Worker labels").fill("office, wharehouse")
    await page.getByText("No worker has all of these labels yet.").waitFor()
    await page.getByLabel("Worker labels").fill("office, !")
    await create.click()
    await page.getByText(/letters, digits and/).waitFor()
    await page.getByLabel("Worker labels").fill("office, gpu")
    await page.getByText("Workers with these labels: Office, rack 2.").waitFor()
    await page.getByLabel("Wait for a worker", { exact: true }).fill("15")
    await create.click()
    await page.getByText("Workers with office, gpu").waitFor()
    await page.getByText("Waits for a worker").waitFor()

    await page.getByRole("button", { name: "Actions for Close the tills" }).click()
    await page.getByRole("menuitem", { name: "Duplicate" }).click()
    await create.click()
    await page.getByRole("heading", { name: "Close the tills (copy)" }).waitFor()
    const onOffice = { run_on: { labels: ["office", "gpu"] }, worker_wait_seconds: 900 }
    const tasks = await client.cron.list().toArray({ limit: 5 })
    expect(tasks).toMatchObject([onOffice, onOffice])

    await page.getByRole("link", { name: "Edit" }).click()
    await page.getByLabel("URL", { exact: true }).fill(`${panel.url()}/v1/echo`)
    await page.getByLabel("Runs on").selectOption("service")
    await page.getByRole("button", { name: "Save changes" }).click()
    const copy = async () => (await client.cron.list({ limit: 1 })).data[0]
    await expect.poll(async () => (await copy())?.run_on).toBe(null)
    expect(problems).toEqual([])
  })

  it("are delayed tasks and steps of chains too", async () => {
    const { page, person, problems } = await panel.openAs()
    const { client, workspaceId } = person
    const w = `${panel.url()}/w/${workspaceId}`
    const onOffice = { run_on: { labels: ["office"] }, worker_wait_seconds: 300 }
    await page.goto(`${w}/delayed/new`)
    await page.getByLabel("Name", { exact: true }).fill("Print")
    await page.getByLabel("URL", { exact: true }).fill("http://10.1.2.3/print")
    await page.getByLabel("Runs on").selectOption("workers")
    await page.getByLabel("Worker labels").fill("office")
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await page.getByText("Workers with office").waitFor()
    await page.getByRole("link", { name: "Duplicate" }).click()
    await page.getByRole("button", { name: "Create delayed task" }).click()
    await expect
      .poll(() => client.delayed.list().toArray({ limit: 5 }))
      .toMatchObject([onOffice, onOffice])

    await page.goto(`${w}/chains/new`)
    await page.getByLabel("Name", { exact: true }).first().fill("Print and file")
    await page.getByLabel("URL", { exact: true }).fill("http://10.1.2.3/print")
    await page.getByLabel("Runs on").selectOption("workers")
    await page.getByLabel("Worker labels").fill("office")
    await page.getByRole("button", { name: "Create chain" }).click()
    await page.getByRole("heading", { name: "Print and file" }).waitFor()
    await page.getByText("first", { exact: true }).click()
    await page.getByText("Workers with office").waitFor()
    const [chain] = await client.chains.list().toArray({ limit: 1 })
    expect(chain?.steps).toMatchObject([onOffice])
    expect(problems).toEqual([])
  })
})
