import { messageColors, type Mail, renderMailPage } from "../../mail/index.ts"
import { bodyLines, type Message } from "./Message.ts"

import { escapeHtml } from "../../core/index.ts"

/** Formats a message as an email. Emails about the same subject form one thread. */
export const alertMail = (to: string, message: Message, unsubscribe: string): Mail => {
  const [subject] = message.events.map(({ subject_id }) => subject_id)
  return {
    id: message.id,
    to,
    subject: `[${message.workspace.name}] ${message.title}`,
    text: [
      message.title,
      "",
      ...bodyLines(message),
      "",
      `At: ${message.created_at.toISOString()}`,
      "--",
      `Stop these emails: ${unsubscribe}`
    ].join("\n"),
    html: renderMailPage({
      title: message.title,
      color: messageColors[message.tone],
      body: `${paragraphs(message)}${table(message)}`,
      footer: `<a class="quiet" href="${escapeHtml(unsubscribe)}">Stop these emails</a>`
    }),
    headers: {
      "List-Unsubscribe": `<${unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
    },
    thread: message.count === 1 ? subject : undefined
  }
}

const paragraphs = ({ lines }: Message) =>
  lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n")

/**
 * The link text for each detail that is shown as a link, by the detail's label. These details'
 * values are URLs that the service has created. URLs in users' text are not made clickable.
 */
const linkTexts: Readonly<Record<string, string>> = {
  Respond: "Acknowledge, snooze or close",
  "Approve or reject": "Decide"
}

const valueOf = (name: string, value: string): string => {
  const text = linkTexts[name]
  return text === undefined ? escapeHtml(value) : `<a href="${escapeHtml(value)}">${text}</a>`
}

const table = ({ created_at, facts, workspace }: Message) => {
  const rows = [
    ...facts,
    { name: "Workspace", value: workspace.name },
    { name: "At", value: `${created_at.toISOString().slice(0, 19).replace("T", " ")} UTC` }
  ]
  const cells = rows.map(
    ({ name, value }) =>
      `<tr><td class="quiet name">${escapeHtml(name)}</td><td>${valueOf(name, value)}</td></tr>`
  )
  return `<table role="presentation" class="facts">${cells.join("\n")}</table>`
}
