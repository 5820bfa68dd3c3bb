// SPDX-License-Identifier: Apache-2.0
//
// drive.js PLAYWRIGHT CHROMIUM PROFILE ADDRESS DONE SHOT: opens the editor's page, waits until the file
// DONE is there, and takes a picture of the window. Where a step holds a program (the file beside DONE that
// ends with .hold), the picture is of that moment, and the file is removed. On a busy machine the page may
// not reach the extensions; it is loaded again until the first step is tried (.started).
const fs = require("fs")
const [, , playwright, executablePath, profile, address, done, shot] = process.argv
const { chromium } = require(playwright)
const seconds = Number(process.env.BERM_EDITOR_SECONDS || 300)
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
args.push("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage")

async function main() {
	const context = await chromium.launchPersistentContext(profile, { executablePath, args, viewport: { width: 1280, height: 800 } })
	const page = context.pages()[0] || (await context.newPage())
	await page.goto(address, { timeout: 120000 })
	await page.waitForSelector(".monaco-workbench", { timeout: 120000 })
	const end = Date.now() + seconds * 1000
	const hold = done.replace(/\.done$/, ".hold")
	const started = done.replace(/\.done$/, ".started")
	let isShot = false
	let again = Date.now() + 60000
	while (!fs.existsSync(done) && Date.now() < end) {
		await page.waitForTimeout(200)
		if (!fs.existsSync(started) && Date.now() > again) {
			await page.reload({ timeout: 120000 })
			again = Date.now() + 60000
		}
		if (!fs.existsSync(hold)) continue
		await page.waitForTimeout(2000)
		await page.screenshot({ path: shot })
		isShot = true
		fs.unlinkSync(hold)
	}
	if (shot && !isShot) await page.screenshot({ path: shot })
	await context.close()
	return fs.existsSync(done) ? 0 : 1
}

main().then(
	(status) => process.exit(status),
	(error) => {
		console.error(error.message)
		process.exit(2)
	},
)
