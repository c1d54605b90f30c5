import { parseAllDocuments } from "yaml"
import {
  type Command,
  CommandError,
  exitStatus,
  type CommandArguments,
  requiredArgument
} from "../Command.ts"
import type { ImportResult } from "../importers/ImportResult.ts"
import { readCronJobOrg } from "../importers/readCronJobOrg.ts"
import { readCrontab } from "../importers/readCrontab.ts"
import { readHealthchecks } from "../importers/readHealthchecks.ts"
import { readKubernetes } from "../importers/readKubernetes.ts"
import { readKuma } from "../importers/readKuma.ts"
import { readQstash } from "../importers/readQstash.ts"
import { printNote, print } from "../output.ts"
import { parseYaml, readText, toYaml } from "../readInput.ts"

interface Importer {
  readonly from: string
  readonly summary: string
  readonly details: string
  readonly examples: Command["examples"]
  readonly options?: Command["options"]
  readonly read: (text: string, given: CommandArguments, path: string) => ImportResult
}

const documentsIn = (text: string, path: string): ReadonlyArray<unknown> =>
  parseAllDocuments(text).map((document) => {
    const [error] = document.errors
    if (error !== undefined) {
      throw new CommandError(`${path} is not valid YAML: ${error.message.split("\n")[0]}`)
    }
    return document.toJS({ maxAliasCount: 100 })
  })

/** Returns the `read` function of an importer whose source is a JSON file. */
const jsonReader =
  (read: (value: unknown) => ImportResult): Importer["read"] =>
  (text, _, path) =>
    read(parseYaml(text, path))

const importers: ReadonlyArray<Importer> = [
  {
    from: "crontab",
    summary: "Converts a crontab to a document of definitions.",
    options: {
      system: { description: "The lines name a user, as in /etc/crontab and /etc/cron.d." },
      tz: { value: "ZONE", description: "Time zone of the machine. UTC when absent." }
    },
    details:
      "A line that calls a URL with curl or wget becomes a cron task. Any other command stays in the\ncrontab and gets a heartbeat monitor: write `scheduling exec KEY --` before it.",
    examples: [
      "scheduling import crontab crontab.txt --tz Europe/Berlin",
      "scheduling import crontab crontab.txt > imported.yaml && scheduling plan imported.yaml"
    ],
    read: (text, given) =>
      readCrontab(text, { timezone: given.value("tz") ?? "UTC", isSystem: given.has("system") })
  },
  {
    from: "healthchecks",
    summary: "Converts checks of Healthchecks to a document of definitions.",
    details:
      "FILE is the response of GET /api/v3/checks/. Each check becomes a heartbeat monitor. With a\nread-write key the response has the UUIDs, and the ping URLs keep them.",
    examples: [
      "scheduling import healthchecks checks.json",
      "scheduling import healthchecks checks.json > imported.yaml && scheduling plan imported.yaml"
    ],
    read: jsonReader(readHealthchecks)
  },
  {
    from: "cron-job.org",
    summary: "Converts jobs of cron-job.org to a document of definitions.",
    details:
      "FILE is the response of GET /jobs, or of GET /jobs/{id}, which also has the headers and the\nbody. Each job becomes a cron task.",
    examples: [
      "scheduling import cron-job.org jobs.json",
      "scheduling import cron-job.org jobs.json > imported.yaml && scheduling plan imported.yaml"
    ],
    read: jsonReader(readCronJobOrg)
  },
  {
    from: "kuma",
    summary: "Converts monitors of Uptime Kuma to a document of definitions.",
    details:
      "FILE is a backup, or a JSON list of monitors. HTTP, keyword, JSON query, TCP port and DNS\nmonitors become monitors of the same kind, and push monitors heartbeats.",
    examples: [
      "scheduling import kuma kuma.json",
      "scheduling import kuma kuma.json > imported.yaml && scheduling plan imported.yaml"
    ],
    read: jsonReader(readKuma)
  },
  {
    from: "qstash",
    summary: "Converts schedules of QStash to a document of definitions.",
    details: "FILE is the response of GET /v2/schedules. Each schedule becomes a cron task.",
    examples: [
      "scheduling import qstash schedules.json",
      "scheduling import qstash schedules.json > imported.yaml && scheduling plan imported.yaml"
    ],
    read: jsonReader(readQstash)
  },
  {
    from: "kubernetes",
    summary: "Converts CronJobs of Kubernetes to a document of definitions.",
    details:
      "FILE is YAML or JSON with any number of objects, such as the output of `kubectl get cronjobs\n--output yaml`. A CronJob that only calls a URL becomes a cron task. Any other stays in the\ncluster and gets a heartbeat monitor.",
    examples: [
      "scheduling import kubernetes cronjobs.yaml",
      "scheduling import kubernetes cronjobs.yaml > imported.yaml && scheduling plan imported.yaml"
    ],
    read: (text, _, path) => readKubernetes(documentsIn(text, path))
  }
]

export const importCommands: ReadonlyArray<Command> = importers.map(
  ({ details, examples, from, options = {}, read, summary }) => ({
    name: `import ${from}`,
    summary,
    usage: "FILE",
    words: [1, 1],
    options,
    details: `${details}\nFILE may be - for standard input. The result for each record is printed to standard error.`,
    examples,
    run: (given) => {
      const path = requiredArgument(given, 0)
      const { document, reports } = read(readText(path), given, path)
      print(toYaml(document).trimEnd())
      for (const { outcome, source } of reports) printNote(`${source}: ${outcome}`)
      return exitStatus.success
    }
  })
)
