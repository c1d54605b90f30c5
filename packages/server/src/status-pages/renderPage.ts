import { escapeHtml } from "../core/index.ts"
import type { OverallStatus, PublicMonitor, PublicNotice, PublicPage } from "./PublicPage.ts"

export const overallStatusTexts: Readonly<Record<OverallStatus, string>> = {
  up: "All systems are operational",
  degraded: "Some systems have problems",
  down: "All systems are down",
  maintenance: "Maintenance is in progress",
  unknown: "No system is monitored yet"
}

const statusTexts: Readonly<Record<PublicMonitor["status"], string>> = {
  new: "Not checked yet",
  up: "Operational",
  warning: "Needs attention",
  down: "Down",
  maintenance: "Maintenance",
  paused: "Paused"
}

const stateTexts: Readonly<Record<PublicNotice["state"], string>> = {
  upcoming: "Planned",
  current: "Now",
  past: "Past"
}

export const formatPercent = (uptime: number): string =>
  // The percentage is rounded down, so that a page never shows 100 % after an outage.
  `${(Math.floor(uptime * 10_000) / 100).toFixed(2)} %`

const timeElement = (time: string): string =>
  `<time datetime="${time}">${time.slice(0, 10)} ${time.slice(11, 16)} UTC</time>`

const groupOfDay = (uptime: number | null): "none" | "good" | "some" | "bad" =>
  uptime === null ? "none" : uptime >= 1 ? "good" : uptime >= 0.99 ? "some" : "bad"

/**
 * Draws the days as one image with one path per colour, because one element per day would be ten
 * times as large.
 */
const bars = ({ days, name, uptime }: PublicMonitor): string => {
  const paths = new Map<string, string>()
  for (const [index, { uptime: share }] of days.entries()) {
    const group = groupOfDay(share)
    paths.set(group, `${paths.get(group) ?? ""}M${index * 4 + 1.5} 0v24`)
  }
  const drawn = [...paths].map(([group, path]) => `<path class="${group}" d="${path}"/>`).join("")
  const outages = days.filter((day) => day.uptime !== null && day.uptime < 1).length
  const text =
    `${name}: ${uptime === null ? "not monitored" : formatPercent(uptime)} in ${days.length} days, ` +
    `${outages === 1 ? "1 day" : `${outages} days`} with an outage`
  return `<svg role="img" aria-label="${escapeHtml(text)}" viewBox="0 0 ${days.length * 4 - 1} 24" preserveAspectRatio="none">${drawn}</svg>`
}

const monitorRow = (monitor: PublicMonitor): string =>
  `<li><div class="line"><bdi>${escapeHtml(monitor.name)}</bdi><span class="${monitor.status}">${statusTexts[monitor.status]}</span></div>
${bars(monitor)}
<div class="line faint"><span>${monitor.days.length} days ago</span><span>${monitor.uptime === null ? "no data" : formatPercent(monitor.uptime)}</span><span>today</span></div></li>`

const paragraphs = (text: string): string =>
  text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`)
    .join("")

const noticeCard = (
  heading: "h2" | "h3",
  { posted_at, state, text, title, until, updates }: PublicNotice
): string =>
  `<article class="${state}"><${heading}>${escapeHtml(title)}</${heading}><p class="faint">${stateTexts[state]} · ${timeElement(posted_at)}${until === null ? "" : ` to ${timeElement(until)}`}</p>${updates
    .map(
      (update) => `<p class="faint">${timeElement(update.posted_at)}</p>${paragraphs(update.text)}`
    )
    .join(
      ""
    )}${updates.length === 0 ? "" : `<p class="faint">${timeElement(posted_at)}</p>`}${paragraphs(text)}</article>`

const section = (title: string, content: string): string =>
  content === "" ? "" : `<section><h2>${title}</h2>${content}</section>`

const style = `
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif;--ink:light-dark(#15181f,#eff1f3);--faint:light-dark(#5b6472,#9aa4b2);--line:light-dark(#e3e7ec,#262c36);--card:light-dark(#fff,#151a21);--good:light-dark(#087a51,#3fc48b);--some:light-dark(#9a5b00,#f0ae3c);--bad:light-dark(#c62d2d,#f26d6d)}
body{margin:0;background:light-dark(#f6f8fa,#0e1116);color:var(--ink)}
main{box-sizing:border-box;max-width:46rem;margin:0 auto;padding:2.5rem 1rem}
h1{font-size:1.5rem;margin:0;overflow-wrap:anywhere}h2{font-size:1rem;margin:2rem 0 .5rem}h3,article h2{font-size:1rem;margin:0}p{margin:.35rem 0;overflow-wrap:anywhere}
.overall{margin:1.5rem 0;padding:.9rem 1rem;border-radius:10px;color:#fff;font-weight:600;background:light-dark(#5b6472,#4a5462)}
.overall.up{background:light-dark(#087a51,#0b7a53)}.overall.degraded,.overall.maintenance{background:light-dark(#9a5b00,#8f5600)}.overall.down{background:light-dark(#b02525,#a32626)}
ul{list-style:none;margin:0;padding:0;background:var(--card);border:1px solid var(--line);border-radius:10px}li{padding:.8rem 1rem}li+li{border-top:1px solid var(--line)}
article{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.8rem 1rem;margin:.5rem 0}article.current{border-color:var(--some)}
.line{display:flex;justify-content:space-between;gap:1rem}.line bdi{font-weight:500;overflow-wrap:anywhere;min-width:0}
.faint,footer{color:var(--faint);font-size:.85rem}.up{color:var(--good)}.warning,.maintenance{color:var(--some)}.down{color:var(--bad)}.new,.paused{color:var(--faint)}
svg{display:block;width:100%;height:24px;margin:.4rem 0}path{stroke-width:3;fill:none}.good{stroke:var(--good)}.some{stroke:var(--some)}.bad{stroke:var(--bad)}.none{stroke:var(--line)}
footer{margin-top:2rem}a{color:inherit}`

/** Renders the page as HTML, without scripts and without resources from other addresses. */
export const renderHtml = (page: PublicPage): string => {
  const { description, groups, incidents, notices, slug, status, title, updated_at } = page
  const [open, closed] = [true, false].map((isOpen) =>
    incidents.filter(({ closed_at }) => (closed_at === null) === isOpen)
  )
  const incidentItem = ({ closed_at, monitor, opened_at }: PublicPage["incidents"][number]) =>
    `<li><bdi>${escapeHtml(monitor)}</bdi><p class="faint">${closed_at === null ? `Down since ${timeElement(opened_at)}` : `Down from ${timeElement(opened_at)} to ${timeElement(closed_at)}`}</p></li>`
  const list = (items: ReadonlyArray<string>) =>
    items.length === 0 ? "" : `<ul>${items.join("")}</ul>`
  const shown = notices.filter(({ state }) => state !== "past")
  const past = notices.filter(({ state }) => state === "past")
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="60">
<title>${escapeHtml(title)}</title>
<link rel="alternate" type="application/atom+xml" title="Incidents and notices" href="/status/${slug}.atom">
<style>${style}</style>
</head>
<body><main>
<h1>${escapeHtml(title)}</h1>
${description === null ? "" : `<p>${escapeHtml(description)}</p>`}
<p class="overall ${status}" role="status">${overallStatusTexts[status]}</p>
${shown.map((notice) => noticeCard("h2", notice)).join("\n")}
${section("Open incidents", list((open ?? []).map(incidentItem)))}
${groups.map(({ monitors, name }) => section(escapeHtml(name), list(monitors.map(monitorRow)))).join("\n")}
${section("Past incidents", list((closed ?? []).map(incidentItem)))}
${section("Past notices", past.map((notice) => noticeCard("h3", notice)).join(""))}
<footer>Updated ${timeElement(updated_at)}. Times are in UTC. <a href="/status/${slug}.atom">Feed</a> · <a href="/status/${slug}.json">JSON</a></footer>
</main></body>
</html>`
}

/**
 * Escapes text for XML. Control characters except tabs and line breaks are removed, because XML
 * cannot contain them even when escaped.
 */
const escapeXml = (text: string): string =>
  escapeHtml(text.replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, ""))

/** Renders incidents and notices as an Atom feed (RFC 4287). */
export const renderAtom = (page: PublicPage, address: string): string => {
  const entries = [
    ...page.incidents.map(({ closed_at, monitor, opened_at }) => ({
      id: `${address}#incident-${opened_at}-${encodeURIComponent(monitor)}`,
      title: `${monitor}: ${closed_at === null ? "down" : "recovered"}`,
      updated: closed_at ?? opened_at,
      text:
        closed_at === null ? `Down since ${opened_at}.` : `Down from ${opened_at} to ${closed_at}.`
    })),
    ...page.notices.map(({ posted_at, text, title, updates }) => ({
      id: `${address}#notice-${posted_at}-${encodeURIComponent(title)}`,
      title,
      updated: updates[0]?.posted_at ?? posted_at,
      text: [...updates.map((update) => update.text), text].join("\n\n")
    }))
  ].toSorted((a, b) => (a.updated < b.updated ? 1 : -1))
  const xml = entries.map(
    ({ id, text, title, updated }) => `<entry>
<id>${escapeXml(id)}</id>
<title>${escapeXml(title)}</title>
<updated>${updated}</updated>
<link href="${escapeHtml(address)}"/>
<content type="text">${escapeXml(text)}</content>
</entry>`
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${escapeHtml(address)}</id>
<title>${escapeXml(page.title)}</title>
<updated>${entries[0]?.updated ?? page.updated_at}</updated>
<author><name>${escapeXml(page.title)}</name></author>
<link rel="self" href="${escapeHtml(address)}.atom"/>
${xml.join("\n")}
</feed>`
}

const badgeTexts: Readonly<Record<OverallStatus, readonly [text: string, color: string]>> = {
  up: ["operational", "#0a7a52"],
  degraded: ["problems", "#9a5b00"],
  maintenance: ["maintenance", "#9a5b00"],
  down: ["down", "#b02525"],
  unknown: ["unknown", "#5b6472"]
}

/** Renders a badge for a README. The browser draws its text, so the width is an estimate. */
export const renderBadge = ({ status, title }: PublicPage): string => {
  const [text, color] = badgeTexts[status]
  const name = title.length > 40 ? `${title.slice(0, 39)}…` : title
  const left = name.length * 6.6 + 14
  const right = text.length * 6.6 + 14
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${escapeHtml(`${name}: ${text}`)}"><rect width="${left}" height="20" fill="#454c57"/><rect x="${left}" width="${right}" height="20" fill="${color}"/><g fill="#fff" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="7" y="14" textLength="${left - 14}">${escapeHtml(name)}</text><text x="${left + 7}" y="14" textLength="${right - 14}">${text}</text></g></svg>`
}
