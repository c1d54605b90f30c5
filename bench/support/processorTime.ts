import { readdirSync, readFileSync } from "node:fs"

/** Processor time of a process's threads in milliseconds. 0 once it is gone. */
export const processorTimeOf = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"))
      .reduce((sum, schedstat) => sum + Number(schedstat.split(" ")[0]) / 1e6, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0
    throw error
  }
}
