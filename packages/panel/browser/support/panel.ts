import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, inject } from "vitest"
import { stopAgents } from "./agent.ts"
import { chromiumPath, connectToChromium } from "./chromium.ts"
import { type PanelUser, startSession, createUser } from "./users.ts"
import { Service } from "./service.ts"

/** Why the tests cannot run. Undefined if they can. */
export const skipReason =
  chromiumPath === undefined
    ? "SKIPPED: there is no Chromium here. Install Debian's package chromium-headless-shell, or name one in CHROMIUM."
    : undefined

if (skipReason !== undefined) console.warn(skipReason)

/** Connects to the browser and the service that all test files share. */
export const usePanel = () => useBrowser(() => inject("panelUrl") ?? "")

/**
 * Connects to the shared browser, and starts a service for one test file, which can stop that
 * service.
 */
export const useOwnPanel = (environment: NodeJS.ProcessEnv = {}, hostname?: string) => {
  let service: Service
  beforeAll(async () => {
    service = await Service.start(environment, hostname, inject("storeFiles"))
  })
  afterAll(() => service[Symbol.asyncDispose]())
  return { ...useBrowser(() => service.url), service: () => service }
}

const useBrowser = (url: () => string) => {
  let browser: Browser
  beforeAll(async () => {
    browser = await connectToChromium(inject("browserEndpoint"))
  })
  // An open page keeps receiving its workspace's live events, which would slow down the tests that
  // follow.
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })
  afterAll(async () => {
    await browser.close()
    await stopAgents()
  })

  /** Opens a page in a new browser context. `problems` collects the page's errors. */
  const open = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ reducedMotion: "reduce", ...options })
    const page = await context.newPage()
    return { context, page, problems: problemsOf(page) }
  }

  return {
    url,
    open,
    /** Opens an empty page for a person who is signed in. */
    openAs: async (person?: PanelUser, options: BrowserContextOptions = {}) => {
      const who = person ?? (await createUser(url()))
      const opened = await open(options)
      await startSession(opened.context, url(), who)
      return { ...opened, person: who }
    }
  }
}

/** Collects script errors and content security policy violations. */
const problemsOf = (page: Page): ReadonlyArray<string> => {
  const problems: Array<string> = []
  page.on("pageerror", (error) => problems.push(error.message))
  page.on("console", (message) => {
    const isRefusal = /Failed to load resource/.test(message.text())
    if (message.type() === "error" && !isRefusal) problems.push(message.text())
  })
  return problems
}
