import { colors, type Mail, page } from "../../mail/index.ts"
import { bodyLines, type Message } from "./Message.ts"

import { escapeHtml } from "../../core/index.ts"

/** Formats a message as a mail. Mails about the same subject form one thread. */
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
    html: page({
      title: message.title,
      color: colors[message.tone],
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

// ---------------------------------------------------------------------------

const paragraphs = ({ lines }: Message) =>
  lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("\n")

/** The link is created by the service. Links in texts of users stay text. */
const linkOf = (url: string) => `<a href="${escapeHtml(url)}">I take care of it</a>`

const table = ({ created_at, facts, workspace }: Message) => {
  const rows = [
    ...facts,
    { name: "Workspace", value: workspace.name },
    { name: "At", value: `${created_at.toISOString().slice(0, 19).replace("T", " ")} UTC` }
  ]
  const cells = rows.map(
    ({ name, value }) =>
      `<tr><td class="quiet name">${escapeHtml(name)}</td><td>${name === "Acknowledge" ? linkOf(value) : escapeHtml(value)}</td></tr>`
  )
  return `<table role="presentation" class="facts">${cells.join("\n")}</table>`
}
