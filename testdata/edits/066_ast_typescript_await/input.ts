const a = await get(url);
const b = get(url);
