const a = <Button color="blue" />;
