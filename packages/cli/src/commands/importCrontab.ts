import { type Command, exitStatus, wordAt } from "../Command.ts"
import { note, print } from "../output.ts"
import { readText, toYaml } from "../readInput.ts"
import { readCrontab } from "./readCrontab.ts"

export const importCrontab: Command = {
  name: "import crontab",
  summary: "Converts a crontab to a document. Changes nothing.",
  usage: "FILE",
  words: [1, 1],
  options: {
    system: { description: "Lines have a user field, as in /etc/crontab and /etc/cron.d." },
    tz: { value: "ZONE", description: "Time zone of the machine. UTC when absent." }
  },
  details:
    "A line that calls a URL with curl or wget becomes a cron task. Any other command stays in the\ncrontab and gets a heartbeat monitor: write `scheduling exec KEY --` before it. What became of\neach line is said on standard error.",
  examples: [
    "scheduling import crontab crontab.txt --tz Europe/Berlin",
    "scheduling import crontab crontab.txt > imported.yaml && scheduling plan imported.yaml"
  ],
  run: (given) => {
    const path = wordAt(given, 0)
    const { document, lines } = readCrontab(readText(path), {
      timezone: given.value("tz") ?? "UTC",
      isSystem: given.has("system")
    })
    print(toYaml(document).trimEnd())
    for (const { line, text } of lines) note(`line ${line}: ${text}`)
    return exitStatus.success
  }
}
