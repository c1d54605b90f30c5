/**
 * The GitHub Action's program (`action.yml`). On a pull request, it plans the changes that the
 * definitions make and posts the plan as a comment, which it updates later. On a push to the
 * branch, it applies the definitions.
 */
import { spawnSync } from "node:child_process"
import { appendFileSync, readFileSync } from "node:fs"
import { env } from "node:process"
import { fileURLToPath } from "node:url"

const built = fileURLToPath(new URL("../packages/cli/dist/scheduling.js", import.meta.url))
const cli = env["ACTION_CLI"] ?? built

/** Identifies the comment, so that the next plan replaces it. */
const marker = "<!-- plan of the Scheduling Service -->"

/** A plan's maximum length. GitHub limits comments to 65,536 characters. */
const maxPlanLength = 60_000

const files = (env["ACTION_FILES"] ?? "").split(/\s+/).filter((file) => file !== "")
const prune = env["ACTION_PRUNE"] === "true" ? ["--prune"] : []

const scheduling = (...words: ReadonlyArray<string>) => {
  // The `./` prevents the command line from parsing a file name that starts with a hyphen as an
  // option.
  const named = files.map((file) => (file.startsWith("-") ? `./${file}` : file))
  const result = spawnSync(process.execPath, [cli, ...words, ...prune, ...named], {
    encoding: "utf8",
    env: { ...env, NO_COLOR: "1" },
    maxBuffer: 64 * 1024 * 1024
  })
  process.stdout.write(result.stdout)
  process.stderr.write(result.stderr)
  return { status: result.status ?? 1, text: result.stdout + result.stderr }
}

const titles: Readonly<Record<number, string>> = {
  0: "Merging this changes no definition.",
  2: "Merging this changes definitions:"
}

/**
 * Returns the plan as Markdown. The plan can contain user input, so its code fence is longer than
 * any fence in the plan.
 */
const markdownOf = (status: number, text: string): string => {
  const shown =
    text.length > maxPlanLength
      ? `${text.slice(0, maxPlanLength)}\n… The log of the workflow has the rest.`
      : text
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = "`".repeat(longest + 1)
  const title = titles[status] ?? "The definitions cannot be applied:"
  return `${marker}\n**Scheduling Service.** ${title}\n\n${fence}\n${shown.trimEnd()}\n${fence}\n`
}

const github = async (method: string, url: string, body?: object): Promise<unknown> => {
  const response = await fetch(url, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${env["ACTION_TOKEN"]}`,
      "content-type": "application/json"
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000)
  })
  if (!response.ok) throw new Error(`GitHub responded to ${method} ${url} with ${response.status}`)
  return response.json()
}

interface Comment {
  readonly url: string
  readonly body: string
}

const findComment = async (comments: string): Promise<string | undefined> => {
  for (let page = 1; page <= 30; page++) {
    const listed = (await github(
      "GET",
      `${comments}?per_page=100&page=${page}`
    )) as ReadonlyArray<Comment>
    const found = listed.find(({ body }) => body.startsWith(marker))
    if (found !== undefined) return found.url
    if (listed.length < 100) return undefined
  }
  return undefined
}

const comment = async (number: number, body: string): Promise<void> => {
  const issue = `${env["GITHUB_API_URL"]}/repos/${env["GITHUB_REPOSITORY"]}/issues/${number}`
  const comments = `${issue}/comments`
  const earlier = await findComment(comments)
  if (earlier === undefined) await github("POST", comments, { body })
  else await github("PATCH", earlier, { body })
}

const numberOfPullRequest = (): number => {
  const event = JSON.parse(readFileSync(env["GITHUB_EVENT_PATH"] ?? "", "utf8"))
  return Number(event.pull_request.number)
}

const plan = async (): Promise<number> => {
  const { status, text } = scheduling("plan")
  const markdown = markdownOf(status, text)
  if (env["GITHUB_STEP_SUMMARY"]) appendFileSync(env["GITHUB_STEP_SUMMARY"], markdown)
  try {
    await comment(numberOfPullRequest(), markdown)
  } catch (error) {
    // A token for a pull request from a fork cannot write comments.
    process.stdout.write(
      `::warning::The plan was not written into a comment: ${(error as Error).message}\n`
    )
  }
  return status === 2 ? 0 : status
}

const run = async (): Promise<number> => {
  const event = env["GITHUB_EVENT_NAME"]
  if (event === "pull_request") return plan()
  if (env["GITHUB_REF"] === `refs/heads/${env["ACTION_BRANCH"]}`) {
    return scheduling("apply", "--yes").status
  }
  process.stdout.write(`Nothing is done for ${event} of ${env["GITHUB_REF"]}.\n`)
  return 0
}

process.exitCode = await run()
