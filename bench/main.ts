/**
 * Compares the service with other programs: `npm run bench [name...]`. Without names, runs all
 * measurements. Prints a table per measurement and saves the tables in `bench/results`.
 */
import { measurements } from "./rows/index.ts"
import { saveReports, markdownOf, type Report } from "./support/report.ts"

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in measurements))
if (unknown.length > 0) {
  console.error(`${unknown.join(", ")}: not among ${Object.keys(measurements).join(", ")}`)
  process.exit(2)
}

const reports: Array<Report> = []
for (const [name, measure] of Object.entries(measurements)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.error(`measuring ${name} ...`)
  const report = await measure()
  console.log(markdownOf(report))
  reports.push(report)
}

const command = ["npm run bench", ...named].join(" ")
console.error(`saved in ${await saveReports(command, reports)}`)
