import type { Command } from "./Command.ts"
import { makeCompletionCommand } from "./commands/completion.ts"
import { definitionCommands } from "./commands/definitions.ts"
import { doctor } from "./commands/doctor.ts"
import { exec } from "./commands/exec.ts"
import { recordCommands } from "./commands/recordCommands.ts"
import { importCommands } from "./commands/importCommands.ts"
import { maintenanceCommands } from "./commands/maintenanceCommands.ts"
import { next } from "./commands/next.ts"
import { runCommands } from "./commands/runCommands.ts"
import { sessionCommands } from "./commands/sessionCommands.ts"
import { triggerCommands } from "./commands/triggerCommands.ts"

/** All commands, in the order in which the help lists them. */
export const commands: ReadonlyArray<Command> = [
  ...sessionCommands,
  ...definitionCommands,
  ...runCommands,
  ...triggerCommands,
  exec,
  next,
  ...importCommands,
  ...recordCommands,
  ...maintenanceCommands,
  doctor,
  makeCompletionCommand(() => commands)
]
